import type { ByteSource } from './byte-source.ts'
import { RemoteRefusal } from './remote-refusal.ts'

/** Separates the capabilities of a command from its arguments. */
export const DELIMITER = Symbol('delimiter')

/** A line of text, or the delimiter. */
export type SentPacket = string | typeof DELIMITER

/** Encodes packets as git's pkt-lines, followed by a flush packet. */
export function encodePackets(packets: readonly SentPacket[]): Buffer {
  const lines = packets.map(packet => {
    if (packet === DELIMITER) return '0001'
    const length = Buffer.byteLength(packet) + 5
    return `${length.toString(16).padStart(4, '0')}${packet}\n`
  })
  return Buffer.from(`${lines.join('')}0000`)
}

/** Length of the next packet in bytes; `null` for a packet that ends a section. @throws EndOfBytes, Error when no packet follows */
export async function readLength(source: ByteSource): Promise<number | null> {
  const digits = Buffer.from(await source.bytes(LENGTH_DIGITS)).toString('latin1')
  if (!/^[0-9a-f]{4}$/i.test(digits)) throw new Error('git-upload-pack: the answer of the host is not in packets of git')
  const length = Number.parseInt(digits, 16)
  return length < LENGTH_DIGITS ? null : length - LENGTH_DIGITS
}

const LENGTH_DIGITS = 4

/** Text of the next packet; `null` at the end of a section. @throws EndOfBytes, RemoteRefusal for an error packet */
export async function readLine(source: ByteSource): Promise<string | null> {
  const length = await readLength(source)
  if (length === null) return null
  const line = Buffer.from(await source.bytes(length))
    .toString()
    .replace(/\n$/, '')
  if (line.startsWith('ERR ')) throw RemoteRefusal.ofGit(line.slice('ERR '.length))
  return line
}
