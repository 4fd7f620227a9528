// The reference for the libraries: plain JavaScript, in f64.

export type Rows = readonly (readonly number[])[]

/** Values between -1 and 1 that depend on the seed. */
export const values = (length: number, seed = 1): number[] =>
  Array.from({ length }, (_, i) => Math.sin(seed * 12.9898 + i * 0.7))

/** Values between 0.5 and 4.5. */
export const positive = (length: number): number[] => Array.from({ length }, (_, i) => 0.5 + ((i * 7) % 5))

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, value) => total + value, 0)

export const rowsOf = (numbers: readonly number[], columns: number): number[][] =>
  Array.from({ length: numbers.length / columns }, (_, r) => numbers.slice(r * columns, (r + 1) * columns))

export const transposed = (x: Rows): number[][] => x[0]!.map((_, column) => x.map((row) => row[column]!))

export const product = (x: Rows, y: Rows): number[][] =>
  x.map((row) => y[0]!.map((_, column) => sum(row.map((value, k) => value * y[k]![column]!))))

export function softmax(row: readonly number[]): number[] {
  const largest = Math.max(...row)
  const powers = row.map((value) => Math.exp(value - largest))
  const total = sum(powers)
  return powers.map((power) => power / total)
}

/** A row minus its mean, divided by its standard deviation. */
export function normalized(row: readonly number[], epsilon = 1e-5): number[] {
  const mean = sum(row) / row.length
  const variance = sum(row.map((value) => (value - mean) ** 2)) / row.length
  return row.map((value) => (value - mean) / Math.sqrt(variance + epsilon))
}
