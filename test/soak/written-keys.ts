export const OBJECTS = 'pub/soak/'

export function objectKey(name: string, turn: number): string {
  return `${OBJECTS}${name}/${turn}`
}

export function entryKey(name: string): string {
  return `ctl/soak/writer/${name}`
}
