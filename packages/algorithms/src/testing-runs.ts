/**
 * How many random cases a test goes through: `short`, or 40 times as many with TANDEM_LONG=1. Not part of the
 * published package.
 */
export function randomRuns(short: number): number {
  return process.env.TANDEM_LONG === '1' ? 40 * short : short
}
