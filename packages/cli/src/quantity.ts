/** Formats a number with three significant digits, without an exponent between 0.001 and 999,999. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value)
  const size = Math.abs(value)
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(2)
  if (size >= 100) return String(Math.round(value))
  return String(Number(value.toPrecision(3)))
}

/** Formats seconds with a suitable unit: `1.23 ms`. */
export function formatSeconds(seconds: number): string {
  if (seconds >= 1) return `${formatNumber(seconds)} s`
  if (seconds >= 1e-3) return `${formatNumber(seconds * 1e3)} ms`
  return `${formatNumber(seconds * 1e6)} µs`
}

/** Formats how long something takes, for people who wait: `12 s`, `4 min`, `2 h 5 min`. */
export function formatDuration(seconds: number): string {
  if (seconds < 59.5) return `${Math.round(seconds)} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** Formats bytes in binary units: `143.8 GiB`. */
export function formatBytes(byteLength: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let value = byteLength
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`
}

const multipliers: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  m: 1e6,
  g: 1e9,
  t: 1e12,
  ki: 1024,
  mi: 1024 ** 2,
  gi: 1024 ** 3,
  ti: 1024 ** 4,
}

/** Parses a whole number such as `150000`, `1e6`, `64K` or `2Mi`; undefined for other text. */
export function parseCount(text: string): number | undefined {
  return /b$/i.test(text) ? undefined : parseQuantity(text, Math.round)
}

/** Parses a size such as `150000`, `1e9`, `1.5GiB` or `64M` into bytes; undefined for other text. */
export function parseBytes(text: string): number | undefined {
  return parseQuantity(text, Math.floor)
}

/** Whether the text is a number, and too large to be exact. */
export function isBeyondNumbers(text: string): boolean {
  return quantityOf(text) > Number.MAX_SAFE_INTEGER
}

function parseQuantity(text: string, whole: (value: number) => number): number | undefined {
  const exact = quantityOf(text)
  const value = whole(exact)
  // A count of elements must be a whole number; a fraction of a byte is dropped.
  if (whole === Math.round && value !== exact) return undefined
  return Number.isSafeInteger(value) ? value : undefined
}

/** NaN if the text is not a number. */
function quantityOf(text: string): number {
  const match = /^(\d+(?:\.\d+)?(?:e\d+)?)\s*([kmgt]i?)?b?$/i.exec(text.trim())
  return match === null ? Number.NaN : Number(match[1]) * multipliers[(match[2] ?? '').toLowerCase()]!
}
