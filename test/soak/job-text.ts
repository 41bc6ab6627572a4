/** What the snapshot of a job holds: as many bytes as its commit says, up to 20 kB. */
export function textOf(commit: string): string {
  return `${commit}\n`.repeat(1 + (Number.parseInt(commit.slice(0, 4), 16) % 500))
}
