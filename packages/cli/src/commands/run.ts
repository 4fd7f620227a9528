import {
  type BufferView,
  type Device,
  type DeviceGroup,
  elementArray,
  isGpuError,
  type Kernel,
  OwnedResources,
  type UniformValue,
} from '@tandem-gpu/core'
import { automaticSuffixes, type ReflectedMember } from '@tandem-gpu/wgsl'
import { InvalidArgumentError } from 'commander'
import { type InputFile, npySink } from '../array-files.ts'
import type { CommandContext, CommandModule } from '../command.ts'
import { UsageError } from '../exit-code.ts'
import {
  addGroupOptions,
  addJsonOption,
  type GroupOptions,
  wholeNumber,
  withGroup,
} from '../group-options.ts'
import { refuseIdleOptions } from '../idle-options.ts'
import { formatJson } from '../json.ts'
import {
  addKernelOptions,
  type KernelOptions,
  kernelModule,
  nameAndRest,
  repeated,
  showWarnings,
} from '../kernel-options.ts'
import { elementTypes, type FileElementType } from '../npy/element-conversion.ts'
import type { OutputFile } from '../output-file.ts'
import { printable } from '../printable.ts'
import { formatSeconds, parseCount } from '../quantity.ts'
import { RunFiles } from '../run-files.ts'
import { beginHandover } from '../terminal.ts'

/** The element types of a buffer. Kernels bind u8 and i8 as `array<u32>`, four elements per word. */
type BufferElementType = Exclude<FileElementType, 'f16'>
const bufferElementTypes: readonly BufferElementType[] = [...elementTypes, 'u8', 'i8']

/** The source of a buffer's elements: a file, or zeros of a type and a shape. */
type BufferSource =
  | { readonly file: string }
  | { readonly type: BufferFileType; readonly shape: readonly number[] }

/** The element types of a buffer's file. Complex numbers are `array<vec2f>`, two f32 each. */
type BufferFileType = BufferElementType | 'c64'

interface RunCommandOptions extends Omit<GroupOptions, 'devices'>, KernelOptions {
  readonly buffer: Readonly<Record<string, BufferSource>>
  readonly output: Readonly<Record<string, string>>
  readonly set: Readonly<Record<string, UniformValue>>
  readonly workgroups?: readonly number[]
  readonly times: number
  readonly cast?: boolean
  readonly json?: boolean
  readonly quiet?: boolean
}

export const command: CommandModule = {
  name: 'run',
  description: 'run a WGSL kernel of your own on arrays',
  examples: [
    'tandem run scale.wgsl --buffer x=in.npy --set factor=2 --output x=out.npy',
    'tandem run fill.wgsl --buffer y=f32:1e6 --workgroups 15625 --json',
  ],
  documents: { run: 'kernel.wgsl --buffer x=f32:5' },
  define(command, context) {
    command
      .argument('<kernel.wgsl>', 'file of WGSL')
      .addOption(
        repeated(
          '--buffer <name=source>',
          'contents of a binding: a .npy file, or zeros, such as f32:1000 or u8:480x640; may be given several times',
          collectBuffer,
        ),
      )
      .addOption(
        repeated(
          '--output <name=file>',
          'write a buffer as .npy at the end; may be given several times',
          collectText,
        ),
      )
      .addOption(
        repeated(
          '--set <name=value>',
          'value of a uniform member, as JSON: a number, an array or an object; may be given several times',
          collectValue,
        ),
      )
      .option(
        '--workgroups <n>',
        'number of workgroups, such as 16 or 16,4,1 (default: one invocation per element of the largest buffer, or per four elements of u8 and i8)',
        workgroupCounts,
      )
      .option('--times <n>', 'number of times that the kernel runs', wholeNumber(1), 1)
      .option('--cast', 'convert 64-bit numbers of input files to 32 bits, with a range check')
    refuseIdleOptions(command, [
      {
        option: 'cast',
        when: ({ buffer }) =>
          Object.values(buffer as RunCommandOptions['buffer']).every((source) => !('file' in source)),
        because: '--cast converts input files, but there are none.',
      },
    ])
    addJsonOption(addGroupOptions(addKernelOptions(command), { count: false }))
    command.action(async (path: string, options: RunCommandOptions) => {
      const { terminal } = context
      for (const name of Object.keys(options.output))
        if (options.buffer[name] === undefined)
          throw new UsageError(
            `--output ${printable(name)} writes a buffer that is not given: add --buffer ${printable(name)}=….`,
          )
      const files = new RunFiles(options, context.terminal.progress)
      try {
        const { source: wgsl } = await kernelModule(path, options)
        const inputs = new Map<string, InputFile<BufferElementType>>()
        const outputs = new Map<string, OutputFile>()
        for (const [name, source] of Object.entries(options.buffer)) {
          if (!('file' in source)) continue
          inputs.set(name, await files.input(source.file, bufferElementTypes, true))
        }
        for (const [name, file] of Object.entries(options.output))
          outputs.set(name, await files.output(file, 'npy'))
        terminal.progress.start('Opening the devices')
        const report = await withGroup({ ...options, devices: 1 }, (group) =>
          runKernel(group, { path, wgsl, inputs, outputs, options, context }),
        )
        beginHandover(terminal)
        await files.commit()
        files.say(options.json ? formatJson('run', report) : asText(report), terminal, options)
      } finally {
        await files.close()
      }
    })
  },
}

interface Work {
  readonly path: string
  readonly wgsl: string
  readonly inputs: ReadonlyMap<string, InputFile<BufferElementType>>
  readonly outputs: ReadonlyMap<string, OutputFile>
  readonly options: RunCommandOptions
  readonly context: CommandContext
}

interface KernelReport {
  readonly kernel: string
  readonly backend: string
  readonly adapter: string
  readonly software: boolean
  readonly workgroups: readonly number[]
  readonly seconds: number
  readonly clock: 'device' | 'host'
  readonly buffers: Readonly<
    Record<string, { type: BufferFileType; shape: readonly number[]; first: readonly number[] }>
  >
}

async function runKernel(group: DeviceGroup, work: Work): Promise<KernelReport> {
  const { path, wgsl, inputs, outputs, options, context } = work
  const device = group.devices[0]!
  const owned = new OwnedResources()
  try {
    const kernel = owned.keep(
      await group
        .compile({ label: path, wgsl, entryPoint: options.entryPoint, constants: options.constant })
        .catch((error: unknown) => {
          if (!isGpuError(error, 'compilation')) throw error
          throw new UsageError(error.message, 'bad-input')
        }),
    )
    showWarnings(context.terminal, path, kernel.reflection.warnings)
    requireBindings(kernel, path, options.buffer, inputs)
    requireValues(kernel, path, options.set)
    const buffers = new Map<
      string,
      { view: BufferView<BufferElementType>; type: BufferFileType; shape: readonly number[] }
    >()
    for (const [name, source] of Object.entries(options.buffer)) {
      const input = inputs.get(name)
      const shape = input?.shape ?? (source as { shape: readonly number[] }).shape
      const given = input?.complex ? 'c64' : (input?.type ?? (source as { type: BufferFileType }).type)
      const [type, numbers] = given === 'c64' ? (['f32', 2] as const) : [given, 1]
      const length = shape.reduce((product, side) => product * side, numbers)
      const [rows, columns] = shape.length === 2 ? [shape[0]!, shape[1]! * numbers] : [1, length]
      const view = owned.keep(await device.allocate(type, [rows, columns], { label: name }))
      if (input !== undefined && length > 0) {
        const data = elementArray(type, length)
        await input.fileOrder()(0, data as never)
        await group.queue.write(view as BufferView, data)
      }
      buffers.set(name, { view: view as never, type: given, shape })
    }
    const views = Object.fromEntries([...buffers].map(([name, { view }]) => [name, view]))
    const largest = Math.max(0, ...[...buffers.values()].map(boundLength))
    const workgroups = options.workgroups ?? [defaultWorkgroups(kernel, largest, path, device)]
    const program = owned.keep(
      group.record((r) =>
        r.dispatch(kernel, {
          device,
          workgroups: workgroups as [number, number?, number?],
          args: { ...options.set, ...views },
        }),
      ),
    )
    const { signal, progress } = context.terminal
    progress.start('Running the kernel', options.times > 1 ? options.times : undefined, 'runs')
    const { seconds, clock } = await group.queue.run(program, options.times, {
      signal,
      onProgress: ({ done }) => progress.reach(done),
    })
    progress.start('Reading the buffers')
    const found: Record<string, KernelReport['buffers'][string]> = {}
    for (const [name, { view, type, shape }] of buffers) {
      const data = await group.queue.read(view)
      found[name] = { type, shape, first: [...data.subarray(0, 8)] }
      const write = await npySink(outputs.get(name), type, shape, progress)
      await write?.(0, data as never)
    }
    const { backend, software } = group
    return {
      kernel: path,
      backend,
      adapter: device.info.name,
      software,
      workgroups,
      seconds,
      clock,
      buffers: found,
    }
  } finally {
    owned.destroy()
  }
}

/**
 * One dimension of workgroups with one invocation per element. Throws if the device does not support so many.
 */
function defaultWorkgroups(
  { workgroupSize: [x] }: Kernel,
  elements: number,
  path: string,
  device: Device,
): number {
  const count = Math.ceil(elements / x)
  const most = device.limits.maxWorkgroupsPerDimension
  if (count > most)
    throw new UsageError(
      `${printable(path)} would need ${count} workgroups of ${x} for its ${elements} elements, but the device allows at most ${most} in one dimension; set --workgroups with several dimensions, such as --workgroups ${most},${Math.ceil(count / most)}, and use them in the kernel.`,
    )
  return count
}

/** Throws if a binding of the kernel has no buffer, or one of another type, or if a buffer has no binding. */
function requireBindings(
  { reflection }: Kernel,
  path: string,
  buffers: RunCommandOptions['buffer'],
  inputs: Work['inputs'],
): void {
  const bindings = reflection.bindings.filter(({ space }) => space === 'storage')
  const names = bindings.map(({ name }) => name)
  const other = Object.keys(buffers).find((name) => !names.includes(name))
  if (other !== undefined)
    throw new UsageError(
      `--buffer ${printable(other)} names no buffer of ${printable(path)}; its buffers are ${names.join(', ') || 'none'}.`,
    )
  const missing = names.find((name) => buffers[name] === undefined)
  if (missing !== undefined)
    throw new UsageError(
      `${printable(path)} binds ${missing}, but there is no --buffer for it; set a file or zeros, such as --buffer ${missing}=f32:1000.`,
    )
  for (const { name, type } of bindings) {
    const source = buffers[name]!
    const given = 'file' in source ? inputs.get(name)!.type : source.type === 'c64' ? 'f32' : source.type
    // A structure with members of several types is given as u32.
    const wanted = type.scalar === 'mixed' ? 'u32' : type.scalar
    if (given === wanted || (wanted === 'u32' && (given === 'u8' || given === 'i8'))) continue
    const from = 'file' in source ? printable(source.file) : 'its --buffer'
    const advice = bufferElementTypes.some((held) => held === wanted)
      ? `give it ${wanted}`
      : `tandem run supports only buffers of ${bufferElementTypes.join(', ')}`
    throw new UsageError(
      `${printable(path)} binds ${name} as ${type.name}, but ${from} is ${given}; ${advice}.`,
    )
  }
}

/**
 * Throws if a uniform member has no value, or a value has no member. Core checks the members that it may fill
 * in.
 */
function requireValues({ reflection }: Kernel, path: string, values: RunCommandOptions['set']): void {
  const members = reflection.bindings
    .filter(({ space }) => space === 'uniform')
    .flatMap(
      ({ name, type, members }): readonly ReflectedMember[] =>
        // A uniform that is not a structure counts as one member with its own name.
        members ?? [{ ...type, name, type: type.name, offset: 0 }],
    )
  const other = Object.keys(values).find((name) => !members.some((member) => member.name === name))
  if (other !== undefined)
    throw new UsageError(
      `--set ${printable(other)} names no uniform member of ${printable(path)}; its uniform members are ${members.map(({ name }) => name).join(', ') || 'none'}.`,
    )
  const missing = members.find(
    ({ name }) =>
      values[name] === undefined && !automaticSuffixes.some((suffix) => name.endsWith(`_${suffix}`)),
  )
  if (missing !== undefined)
    throw new UsageError(
      `${printable(path)} has the uniform member ${missing.name} (${missing.type}), but there is no --set for it; set its value as JSON, such as --set ${exampleValue(missing)}.`,
    )
}

function exampleValue({ name, kind, components }: ReflectedMember): string {
  switch (kind) {
    case 'scalar':
      return `${name}=1`
    case 'vector':
      return `'${name}=[${Array(components).fill(1).join(',')}]'`
    default:
      return kind === 'struct' ? `'${name}={…}'` : `'${name}=[…]'`
  }
}

/**
 * The number of elements that the kernel sees: words of four elements if the buffer holds bytes, pairs if it
 * holds complex numbers.
 */
function boundLength({
  view,
  type,
}: {
  readonly view: BufferView<BufferElementType>
  readonly type: BufferFileType
}): number {
  if (type === 'c64') return view.length / 2
  return type === 'u8' || type === 'i8' ? Math.ceil(view.length / 4) : view.length
}

function asText(report: KernelReport): string {
  const lines = [
    `${report.kernel} on ${report.adapter} (${report.backend}): ${report.workgroups.join(' × ')} workgroup${report.workgroups.some((count) => count !== 1) ? 's' : ''}, ${formatSeconds(report.seconds)}`,
    ...Object.entries(report.buffers).map(([name, { type, shape, first }]) => {
      const length = shape.reduce((product, side) => product * side, type === 'c64' ? 2 : 1)
      const more = length > first.length ? ' …' : ''
      return `  ${name}  ${type} ${shape.join(' × ')}  ${first.map((value) => Number(value.toPrecision(6))).join(' ')}${more}`
    }),
  ]
  return `${lines.join('\n')}\n`
}

function collectBuffer(text: string, previous: Record<string, BufferSource>): Record<string, BufferSource> {
  const [name, source] = nameAndRest(text, previous)
  const zeros = /^(f32|i32|u32|u8|i8|c64):(.+)$/.exec(source)
  if (zeros === null) {
    const [, other] = /^(\w{2,}):[\dkmgtiex.]+$/i.exec(source) ?? []
    if (other !== undefined)
      throw new InvalidArgumentError(
        `Zeros must have one of the types ${bufferElementTypes.join(', ')} and c64, not ${other}.`,
      )
    return { ...previous, [name]: { file: source } }
  }
  const shape = zeros[2]!.split('x').map(parseCount)
  if (shape.some((side) => side === undefined))
    throw new InvalidArgumentError('It must be a type and a shape, such as f32:1000 or u32:20x30.')
  return { ...previous, [name]: { type: zeros[1] as BufferFileType, shape: shape as number[] } }
}

function collectText(text: string, previous: Record<string, string>): Record<string, string> {
  const [name, rest] = nameAndRest(text, previous)
  return { ...previous, [name]: rest }
}

function collectValue(text: string, previous: Record<string, UniformValue>): Record<string, UniformValue> {
  const [name, rest] = nameAndRest(text, previous)
  try {
    return { ...previous, [name]: JSON.parse(rest) as UniformValue }
  } catch {
    throw new InvalidArgumentError('The value must be JSON: a number, an array or an object.')
  }
}

function workgroupCounts(text: string): readonly number[] {
  const counts = text.split(',').map(parseCount)
  if (counts.length > 3 || counts.some((count) => count === undefined))
    throw new InvalidArgumentError('It must be one to three counts, such as 16 or 16,4,1.')
  return counts as number[]
}
