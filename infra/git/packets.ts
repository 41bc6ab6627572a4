import type { ByteSource } from './byte-source.ts'

/** Stands between the capabilities and the arguments of a command. */
export const DELIMITER = Symbol('delimiter')

/** A line of text, or what stands between lines. */
export type SentPacket = string | typeof DELIMITER

/** The bytes of git's packet lines, with a flush behind them. */
export function encodePackets(packets: readonly SentPacket[]): Buffer {
  const lines = packets.map(packet => {
    if (packet === DELIMITER) return '0001'
    const length = Buffer.byteLength(packet) + 5
    return `${length.toString(16).padStart(4, '0')}${packet}\n`
  })
  return Buffer.from(`${lines.join('')}0000`)
}

/** The bytes of the packet that begins here; `null` for one that only ends a section. @throws EndOfBytes, Error when this is no packet */
export async function readLength(source: ByteSource): Promise<number | null> {
  const digits = Buffer.from(await source.bytes(LENGTH_DIGITS)).toString('latin1')
  if (!/^[0-9a-f]{4}$/i.test(digits)) throw new Error('the host answers otherwise than by packets of git')
  const length = Number.parseInt(digits, 16)
  return length < LENGTH_DIGITS ? null : length - LENGTH_DIGITS
}

const LENGTH_DIGITS = 4

/** The text of the next packet; `null` where a section ends. @throws EndOfBytes, Error with what the host says instead */
export async function readLine(source: ByteSource): Promise<string | null> {
  const length = await readLength(source)
  if (length === null) return null
  const line = Buffer.from(await source.bytes(length))
    .toString()
    .replace(/\n$/, '')
  if (line.startsWith('ERR ')) throw new Error(`git-upload-pack: ${line.slice('ERR '.length).slice(0, MESSAGE_LENGTH)}`)
  return line
}

/** What a host says may be long. */
export const MESSAGE_LENGTH = 500
