import type { HostView, Recorder } from '@tandem-gpu/core'
import { GatherTree } from '../gather-tree.ts'
import type { JacobiField } from './jacobi-field.ts'

/** Distributes the residuals of all blocks to every process. */
export class ResidualTree {
  readonly #field: JacobiField
  readonly #tree: GatherTree

  /** `length`: the length of the host memory that `record` fills. */
  constructor(field: JacobiField, length: number) {
    this.#field = field
    const owners = field.blocks.map(({ owner }) => owner)
    this.#tree = new GatherTree(field.group, owners, 1, length, 'residuals')
  }

  /** Records the gathering of one u32 for each block into `target`; every process records it. */
  record(recorder: Recorder, target: HostView<'u32'>): void {
    for (const [index, { owner, residual }] of this.#field.blocks.entries())
      if (recorder.touches(owner.ordinal))
        recorder.download(residual, this.#tree.place(index, target.offset), { label: 'residual' })
    this.#tree.record(recorder, target)
  }

  destroy(): void {
    this.#tree.destroy()
  }
}
