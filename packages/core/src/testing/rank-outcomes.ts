import { expect } from 'vitest'
import { type GpuErrorCode, isGpuError } from '../errors.ts'
import type { DeviceGroup } from '../group/group.ts'
import type { OpenRanks } from './open-ranks.ts'

/** What each rank's `body` ends with: its value, or the error. */
export async function outcomes<R>(
  ranks: OpenRanks,
  body: (group: DeviceGroup) => Promise<R>,
): Promise<PromiseSettledResult<R>[]> {
  return Promise.allSettled(ranks.groups.map(body))
}

/** Expects a GpuError of one code on every rank, whose sentence has all the parts. */
export function expectErrors(
  results: readonly PromiseSettledResult<unknown>[],
  code: GpuErrorCode | readonly GpuErrorCode[],
  ...parts: readonly string[]
): void {
  const codes = typeof code === 'string' ? results.map(() => code) : code
  expect(results.map((result) => (result.status === 'rejected' ? result.reason?.code : 'no error'))).toEqual(
    codes,
  )
  for (const result of results)
    if (result.status === 'rejected' && isGpuError(result.reason))
      for (const part of parts) expect(result.reason.message).toContain(part)
}
