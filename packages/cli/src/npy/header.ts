import { UsageError } from '../exit-code.ts'
import { printable } from '../printable.ts'

/**
 * The header of a `.npy` file, format versions 1.0 to 3.0
 * (NumPy enhancement proposal 1 and `numpy/lib/format.py`, "Format Version 1.0" ff.).
 */
export interface NpyHeader {
  /** NumPy's type string, such as `<f4`. Structured types are rejected. */
  readonly descr: string
  readonly fortranOrder: boolean
  readonly shape: readonly number[]
  /** The byte offset of the first element. */
  readonly dataByteOffset: number
}

/** Bytes that hold the magic string, the version and the length of the longest length field. */
export const npyPreambleByteLength = 12
const magic = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59]
/** NumPy writes headers of 128 bytes; format.py rejects headers above 10,000. */
const headerByteLimit = 65_536

/**
 * The byte offset of the first element, computed from the first 12 bytes of the file (fewer if it is
 * shorter).
 */
function npyDataByteOffset(preamble: Uint8Array, name: string): number {
  if (preamble.length < 10 || magic.some((byte, i) => preamble[i] !== byte)) {
    throw new UsageError(`${name} is not a .npy file: it does not start with \\x93NUMPY.`, 'bad-input')
  }
  const version = preamble[6]!
  const view = new DataView(preamble.buffer, preamble.byteOffset, preamble.byteLength)
  if (version < 1 || version > 3) {
    throw new UsageError(
      `${name} has .npy format version ${version}.${preamble[7]}, but Tandem reads versions 1 to 3.`,
      'bad-input',
    )
  }
  if (version === 1) return 10 + view.getUint16(8, true)
  if (preamble.length < 12)
    throw new UsageError(`${name} is truncated: it ends within its header.`, 'bad-input')
  const byteLength = view.getUint32(8, true)
  if (byteLength > headerByteLimit) {
    throw new UsageError(
      `${name} has a header of ${byteLength} bytes, but the limit is ${headerByteLimit}.`,
      'bad-input',
    )
  }
  return 12 + byteLength
}

/** `bytes` is the start of the file, at least up to `npyDataByteOffset`. */
export function parseNpyHeader(bytes: Uint8Array, name: string): NpyHeader {
  const dataByteOffset = npyDataByteOffset(bytes, name)
  if (bytes.length < dataByteOffset) {
    throw new UsageError(`${name} is truncated: it ends within its header.`, 'bad-input')
  }
  const text = new TextDecoder(bytes[6] === 3 ? 'utf-8' : 'latin1').decode(
    bytes.subarray(bytes[6] === 1 ? 10 : 12, dataByteOffset),
  )
  const wrong = (reason: string) =>
    new UsageError(
      `${name} has an invalid .npy header: ${reason} in ${JSON.stringify(shortened(text.trim()))}.`,
      'bad-input',
    )

  const entries = parseDictionary(text, wrong)
  const descr = entries.get('descr')
  const fortranOrder = entries.get('fortran_order')
  const shape = entries.get('shape')
  if (entries.size !== 3 || descr === undefined || fortranOrder === undefined || shape === undefined) {
    throw wrong('the keys are not descr, fortran_order and shape')
  }
  if (!/^'[^']*'$|^"[^"]*"$/.test(descr)) {
    throw new UsageError(
      `${name} has a structured type (${printable(shortened(descr))}), but Tandem needs an array of numbers: save one field of it.`,
      'bad-input',
    )
  }
  if (fortranOrder !== 'True' && fortranOrder !== 'False') throw wrong('fortran_order is not True or False')
  const dimensions = parseTuple(shape)
  if (dimensions === undefined) throw wrong('shape is not a tuple of whole numbers')
  if (!Number.isSafeInteger(dimensions.reduce((product, length) => product * length, 8))) {
    throw wrong('shape is larger than a file can be')
  }
  return {
    descr: descr.slice(1, -1),
    fortranOrder: fortranOrder === 'True',
    shape: dimensions,
    dataByteOffset,
  }
}

/** The start of a long text, for a message. */
function shortened(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`
}

/** A key, a colon, a value and a comma. */
const tokensOfEntry = 4

/**
 * Parses the Python literal of a flat dictionary in one pass. Returns the source text of each value by its
 * key.
 */
function parseDictionary(text: string, wrong: (reason: string) => Error): Map<string, string> {
  const body = text.trim()
  if (!body.startsWith('{') || !body.endsWith('}')) throw wrong('there is no dictionary')
  const token = /(?<value>'[^']*'|"[^"]*"|[A-Za-z]\w*|\([^()]*\)|\[.*\])|[:,]|(?<space>\s+)|(?<other>.)/gsy
  const tokens: RegExpExecArray[] = []
  for (const found of body.slice(1, -1).matchAll(token)) {
    // Fails immediately: a text that consists of opening brackets must not be searched for the end of each.
    if (found.groups?.other !== undefined) throw wrong('an entry is not readable')
    if (found.groups?.space !== undefined) continue
    tokens.push(found)
    if (tokens.length > 3 * tokensOfEntry) throw wrong('there are more entries than three')
  }
  const entries = new Map<string, string>()
  for (let at = 0; at < tokens.length; at += tokensOfEntry) {
    const [key, colon, value, comma] = [0, 1, 2, 3].map((i) => tokens[at + i])
    const name = /^(['"])(\w+)\1$/.exec(key![0])?.[2]
    if (
      name === undefined ||
      colon?.[0] !== ':' ||
      value?.groups?.value === undefined ||
      (comma && comma[0] !== ',')
    )
      throw wrong('an entry is not readable')
    entries.set(name, value.groups.value)
  }
  return entries
}

/** The lengths in a tuple such as `(3, 4L)`; undefined for other text. */
function parseTuple(text: string): number[] | undefined {
  const inner = /^\((.*)\)$/s.exec(text)?.[1]?.trim()
  if (inner === undefined) return undefined
  if (inner === '') return []
  const parts = inner.split(',')
  // A trailing comma.
  if (parts.length > 1 && parts.at(-1)!.trim() === '') parts.pop()
  const lengths: number[] = []
  for (const part of parts) {
    const digits = /^(\d+)L?$/.exec(part.trim())?.[1]
    if (digits === undefined) return undefined
    lengths.push(Number.parseInt(digits, 10))
  }
  return lengths
}

/** A version 1.0 header in C order, padded so that the elements start at a multiple of 64 bytes. */
export function formatNpyHeader(descr: string, shape: readonly number[]): Uint8Array<ArrayBuffer> {
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(', ')})`
  const dictionary = `{'descr': '${descr}', 'fortran_order': False, 'shape': ${tuple}, }`
  const byteLength = Math.ceil((10 + dictionary.length + 1) / 64) * 64
  const bytes = new Uint8Array(byteLength).fill(0x20)
  bytes.set([...magic, 1, 0, (byteLength - 10) & 0xff, (byteLength - 10) >> 8])
  bytes.set(new TextEncoder().encode(dictionary), 10)
  bytes[byteLength - 1] = 0x0a
  return bytes
}
