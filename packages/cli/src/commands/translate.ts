import { type CudaBounds, emitCuda, lower, reflect, WgslError } from '@tandem-gpu/wgsl'
import { Command, Option } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { UsageError } from '../exit-code.ts'
import { addJsonOption } from '../group-options.ts'
import { formatJson } from '../json.ts'
import { addKernelOptions, type KernelOptions, kernelModule, showWarnings } from '../kernel-options.ts'

interface TranslateOptions extends KernelOptions {
  readonly bounds: CudaBounds
  readonly json?: boolean
}

export function translateCommand(context: CommandContext): Command {
  const command = new Command('translate')
    .description('print the CUDA C++ into which a WGSL kernel is translated; with --json, also its bindings')
    .argument('<kernel.wgsl>', 'file of WGSL')
    .addOption(
      new Option('--bounds <rule>', 'what an access outside a binding does')
        .choices(['clamp', 'trap', 'unchecked'])
        .default('clamp'),
    )
  addJsonOption(addKernelOptions(command))
  return command.action(async (path: string, options: TranslateOptions) => {
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
}
