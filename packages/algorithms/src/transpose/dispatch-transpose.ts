import { type BufferView, bindableRows, type Recorder, ranges } from '@tandem-gpu/core'
import type { PersistentKernels, TransposeKernel } from './transpose-kernels.ts'

/** A block that one device transposes or copies. */
export interface BlockPass {
  /** The device's ordinal. */
  readonly device: number
  readonly source: BufferView
  /** For a transpose, columns × rows of the source; for a copy, rows × columns. */
  readonly target: BufferView
  readonly label: string
}

/**
 * Transposes one block on one device, in as many dispatches as binding sizes and grid limits require (nearly
 * always one). With `workgroups`, uses at most that many workgroups if there is a kernel for that.
 */
export function dispatchTranspose(
  recorder: Recorder,
  { kernel, tile, persistent }: TransposeKernel,
  pass: BlockPass,
  workgroups?: number,
): void {
  if (workgroups !== undefined && persistent !== undefined) {
    dispatchPersistent(recorder, persistent, 'transpose', pass, workgroups)
    return
  }
  const { source, target, label } = pass
  const device = recorder.devices[pass.device]!
  const grid = device.limits.maxWorkgroupsPerDimension
  const most = (view: BufferView, tileLength: number) =>
    Math.min(grid * tileLength, bindableRows(device, view))
  for (const { first: row, count: height } of ranges(source.rows, most(source, tile[1])))
    for (const { first: column, count: width } of ranges(source.columns, most(target, tile[0])))
      recorder.dispatch(kernel, {
        device: pass.device,
        workgroups: [Math.ceil(width / tile[0]), Math.ceil(height / tile[1])],
        args: {
          input: source.block(row, column, height, width),
          output: target.block(column, row, width, height),
        },
        label,
      })
}

/** Transposes or copies one block on one device with at most `workgroups` workgroups. */
export function dispatchPersistent(
  recorder: Recorder,
  kernels: PersistentKernels,
  kind: 'transpose' | 'copy',
  { source, target, label, ...pass }: BlockPass,
  workgroups: number,
): void {
  const device = recorder.devices[pass.device]!
  const [tileColumns, tileRows] = kernels.tile
  const copies = kind === 'copy'
  const rowsAtOnce = Math.min(bindableRows(device, source), copies ? bindableRows(device, target) : Infinity)
  const columnsAtOnce = copies ? source.columns : bindableRows(device, target)
  for (const { first: row, count: height } of ranges(source.rows, rowsAtOnce))
    for (const { first: column, count: width } of ranges(source.columns, columnsAtOnce)) {
      const tiles = Math.ceil(width / tileColumns) * Math.ceil(height / tileRows)
      recorder.dispatch(kernels[kind], {
        device: pass.device,
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
