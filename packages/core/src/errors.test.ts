import { inspect } from 'node:util'
import { expect, test, vi } from 'vitest'
import { GpuError, isGpuError } from './errors.ts'
import { openGroup } from './group/group.ts'
import { referenceBackend } from './testing/reference-backend.ts'

test('a module that is loaded twice recognizes the errors of its other copy, and refuses its objects with a sentence', async () => {
  vi.resetModules()
  const copy = await import('./index.ts')
  expect(copy.GpuError).not.toBe(GpuError)
  const error = new copy.GpuError('aborted', 'The run is aborted.')
  expect([isGpuError(error), isGpuError(error, 'aborted'), isGpuError(error, 'driver')]).toEqual([
    true,
    true,
    false,
  ])
  expect(isGpuError(new TypeError('no'))).toBe(false)

  const [one, other] = await Promise.all(
    [openGroup, copy.openGroup].map((open) => open({ backends: [referenceBackend()] })),
  )
  const foreign = await other!.devices[0]!.allocate('u32', 4)
  await expect(one!.queue.read(foreign)).rejects.toMatchObject({ code: 'validation' })
  foreign.destroy()
  for (const group of [one!, other!]) expect(await group.destroy()).toEqual({ leaks: [] })
})

test('an uncaught error shows a line and a column only if it has them', () => {
  expect(inspect(new GpuError('no-device', 'No usable device was found.'))).not.toContain('undefined')
  expect(inspect(new GpuError('compilation', 'It is wrong.', { line: 3, column: 7 }))).toMatch(
    /line: 3,\s+column: 7/,
  )
})
