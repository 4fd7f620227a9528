import { type CudaBounds, emitCuda, lower, reflect, WgslError } from '@tandem-gpu/wgsl'
import { Option } from 'commander'
import type { CommandModule } from '../command.ts'
import { UsageError } from '../exit-code.ts'
import { addJsonOption } from '../group-options.ts'
import { formatJson } from '../json.ts'
import { addKernelOptions, type KernelOptions, kernelModule, showWarnings } from '../kernel-options.ts'

interface TranslateOptions extends KernelOptions {
  readonly bounds: CudaBounds
  readonly json?: boolean
}

export const command: CommandModule = {
  name: 'translate',
  description: 'print the CUDA C++ into which a WGSL kernel is translated; with --json, also its bindings',
  examples: ['tandem translate scale.wgsl', 'tandem translate tiled.wgsl --constant TILE=16 --json'],
  documents: { translate: 'kernel.wgsl' },
  define(command, context) {
    command
      .argument('<kernel.wgsl>', 'file of WGSL')
      .addOption(
        new Option('--bounds <rule>', 'what an access outside a binding does')
          .choices(['clamp', 'trap', 'unchecked'])
          .default('clamp'),
      )
    addJsonOption(addKernelOptions(command))
    command.action(async (path: string, options: TranslateOptions) => {
      const module = await kernelModule(path, options)
      try {
        const ir = lower(
          module,
          options.entryPoint === undefined
            ? { constants: options.constant }
            : { entryPoint: options.entryPoint, constants: options.constant },
        )
        showWarnings(context.terminal, path, ir.warnings)
        const { source } = emitCuda(ir, { bounds: options.bounds, label: path })
        context.terminal.out(
          options.json ? formatJson('translate', { source, reflection: reflect(ir) }) : source,
        )
      } catch (error) {
        if (!(error instanceof WgslError)) throw error
        throw new UsageError(error.message, 'bad-input')
      }
    })
  },
}
