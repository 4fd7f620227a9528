import { availableParallelism } from 'node:os'
import { GpuError } from '@tandem-gpu/core'
import type { NativeAccess } from '@tandem-gpu/core/backend'
import { keepAwake } from '@tandem-gpu/core/backend'
import { LocalExecutable } from './cuda-executable.ts'
import type { RecordedPlan } from './cuda-plan.ts'
import { CudaRuntime, type RuntimeHandles } from './cuda-runtime.ts'
import type { Lowering } from './lowering.ts'

/** In longer runs, the cost of waking a thread is negligible. */
const awakeMilliseconds = 50

/** Devices of one process. */
export class LocalRuntime extends CudaRuntime<LocalExecutable> {
  readonly native: NativeAccess<RuntimeHandles<LocalExecutable>> = {
    launcher: (executable, uniformBlock) => this.#launcher(executable, uniformBlock),
    address: async ({ address, byteLength, gpu }) => {
      if (!this.options.addressable) return undefined
      return this.guard(`Addressing memory of GPU ${gpu}`, () => this.group.deviceMemory(address, byteLength))
    },
  }

  protected override create(plan: RecordedPlan, lowering: Lowering): Promise<LocalExecutable> {
    return LocalExecutable.create(this.gpus, lowering, plan)
  }

  /**
   * Only this runtime keeps the thread awake: runtimes over several processes know how many share the cores
   * and do it themselves. This one only sees to which cores it is bound.
   */
  protected override began(outcome: Promise<unknown>): void {
    keepAwake(outcome, awakeMilliseconds, availableParallelism(), () => this.group.yieldCore())
  }

  async #launcher(
    executable: LocalExecutable,
    uniformBlock = executable.plan.uniformBlock,
  ): Promise<unknown> {
    // Trap records are read after each run, which a launcher cannot do.
    if (executable.arena.trapRanges().length > 0 || executable.plan.commands.length === 0) return undefined
    return this.guard(`Instantiating program '${executable.label}'`, async () => {
      const uniformTargets = executable.uniformTargets(uniformBlock)
      if (uniformTargets.length > 0)
        await this.group.run({
          before: [],
          steps: [],
          collect: [],
          abortWord: new Int32Array(1),
          uniformTargets,
          uniforms: uniformBlock,
        })
      return executable.launcher()
    })
  }

  override abandon(): void {
    this.abandoned = true
    this.group.abandon()
    this.lose(new GpuError('device-lost', 'Work that runs on the GPUs does not end.'))
  }
}
