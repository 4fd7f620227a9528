import { type BufferView, bindableRows, type Recorder, ranges } from '@tandem-gpu/core'
import type { PersistentKernels, TransposeKernel } from './transpose-kernels.ts'

/**
 * Transposes one block on one device, in as many dispatches as binding sizes and grid limits demand (nearly always one). With `workgroups`: by no more
 * of them, where there is a kernel for that.
 */
export function dispatchTranspose(
  recorder: Recorder,
  { kernel, tile, persistent }: TransposeKernel,
  ordinal: number,
  source: BufferView,
  target: BufferView,
  label: string,
  workgroups?: number,
): void {
  if (workgroups !== undefined && persistent !== undefined) {
    dispatchPersistent(recorder, persistent, 'transpose', ordinal, source, target, label, workgroups)
    return
  }
  const device = recorder.devices[ordinal]!
  const grid = device.limits.maxWorkgroupsPerDimension
  const most = (view: BufferView, tileLength: number) =>
    Math.min(grid * tileLength, bindableRows(device, view))
  for (const { first: row, count: height } of ranges(source.rows, most(source, tile[1])))
    for (const { first: column, count: width } of ranges(source.columns, most(target, tile[0])))
      recorder.dispatch(kernel, {
        device: ordinal,
        workgroups: [Math.ceil(width / tile[0]), Math.ceil(height / tile[1])],
        args: {
          input: source.block(row, column, height, width),
          output: target.block(column, row, width, height),
        },
        label,
      })
}

/** Transposes or copies one block on one device by no more than `workgroups` workgroups. */
export function dispatchPersistent(
  recorder: Recorder,
  kernels: PersistentKernels,
  pass: 'transpose' | 'copy',
  ordinal: number,
  source: BufferView,
  target: BufferView,
  label: string,
  workgroups: number,
): void {
  const device = recorder.devices[ordinal]!
  const [tileColumns, tileRows] = kernels.tile
  const copies = pass === 'copy'
  const rowsAtOnce = Math.min(bindableRows(device, source), copies ? bindableRows(device, target) : Infinity)
  const columnsAtOnce = copies ? source.columns : bindableRows(device, target)
  for (const { first: row, count: height } of ranges(source.rows, rowsAtOnce))
    for (const { first: column, count: width } of ranges(source.columns, columnsAtOnce)) {
      const tiles = Math.ceil(width / tileColumns) * Math.ceil(height / tileRows)
      recorder.dispatch(kernels[pass], {
        device: ordinal,
        workgroups: [Math.min(workgroups, tiles), 1],
        args: {
          input: source.block(row, column, height, width),
          output: copies
            ? target.block(row, column, height, width)
            : target.block(column, row, width, height),
        },
        label,
      })
    }
}
