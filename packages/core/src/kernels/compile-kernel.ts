import {
  describeSubgroupMatrixUse,
  findInvocationAccesses,
  lower,
  parseWgsl,
  reflect,
  unsupportedSubgroupMatrix,
  WgslError,
} from '@tandem-gpu/wgsl'
import type { KernelSource } from '../backend/kernel-source.ts'
import { describedValue } from '../described-value.ts'
import { GpuError, invalid } from '../errors.ts'
import type { Device } from '../group/device.ts'
import type { GroupState } from '../group/group-state.ts'
import { requireOptions } from '../options.ts'
import type { NumberedCall } from '../ranks/rank-calls.ts'
import type { CompiledKernel, CompileOptions } from './kernel.ts'
import { kernelLayout } from './kernel-layout.ts'

/**
 * Runs the front end, checks the kernel against the limits of every device, and lets the backend compile it.
 */
export async function compileKernel(
  group: GroupState,
  devices: readonly Device[],
  options: CompileOptions,
  call: NumberedCall | undefined,
): Promise<CompiledKernel> {
  const compile = async (): Promise<CompiledKernel> => {
    const source = frontEnd(options)
    for (const device of devices) requireDeviceSupports(device, source)
    const { reflection, module } = source
    const layout = kernelLayout(reflection)
    const handle = await group.runtime.compile(source)
    let accesses: ReturnType<typeof findInvocationAccesses> | undefined
    return {
      handle,
      reflection,
      layout,
      accesses() {
        accesses ??= findInvocationAccesses(module)
        return accesses
      },
    }
  }
  return group.settle(call, compile, ({ handle }) => group.runtime.releaseKernel(handle))
}

const compileOptions = {
  label: 'string',
  wgsl: 'string',
  entryPoint: 'string',
  constants: 'object',
  bounds: ['clamp', 'trap', 'unchecked'],
  terminates: 'boolean',
  workgroupsPerMultiprocessor: 'number',
} as const

/** Throws `validation` for options that are missing or of a wrong type. */
export function requireCompileOptions(options: CompileOptions): void {
  requireOptions(options, 'compile', compileOptions)
  if (options.wgsl === undefined) throw invalid('The option wgsl of compile is missing.')
  const { workgroupsPerMultiprocessor: together = 1 } = options
  if (!Number.isInteger(together) || together < 1 || together > 32)
    throw invalid(
      `The option workgroupsPerMultiprocessor of compile is ${together}; it must be a whole number from 1 to 32.`,
    )
  for (const [name, value] of Object.entries(options.constants ?? {}))
    if (typeof value !== 'number' && typeof value !== 'boolean')
      throw invalid(`The constant ${name} is ${describedValue(value)}; it must be a number or a boolean.`)
}

/** Kernels with equal keys compile to the same code. */
export function kernelKey({
  wgsl,
  entryPoint = '',
  constants = {},
  bounds = 'clamp',
  terminates = false,
  workgroupsPerMultiprocessor = 1,
}: CompileOptions): string {
  const values = constantsKey(constants)
  return JSON.stringify([wgsl, entryPoint, values, bounds, terminates, workgroupsPerMultiprocessor])
}

/** Constants with equal keys are equal, whatever their order. */
export function constantsKey(constants: Readonly<Record<string, number | boolean>>): string {
  const sorted = Object.entries(constants)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    // JSON cannot represent -0, NaN and infinities.
    .map(([name, value]) => [name, typeof value, Object.is(value, -0) ? '-0' : String(value)])
  return JSON.stringify(sorted)
}

function frontEnd({
  label = 'kernel',
  wgsl,
  entryPoint,
  constants = {},
  bounds = 'clamp',
  terminates = false,
  workgroupsPerMultiprocessor,
}: CompileOptions): KernelSource {
  try {
    const module = lower(parseWgsl(wgsl, { label }), { entryPoint, constants })
    const reflection = reflect(module)
    const common = { label, wgsl, constants, bounds, terminates, workgroupsPerMultiprocessor }
    return { ...common, entryPoint: module.entryPoint.name, module, reflection }
  } catch (error) {
    if (!(error instanceof WgslError)) throw error
    const { line, column } = error
    throw new GpuError('compilation', `A kernel failed to compile: ${error.message}`, {
      line,
      column,
      cause: error,
    })
  }
}

function requireDeviceSupports(device: Device, source: KernelSource): void {
  const { ordinal, limits, features } = device
  const { label, reflection, bounds } = source
  for (const feature of reflection.features)
    if (!features.has(feature))
      throw new GpuError(
        'unsupported',
        `Kernel "${label}" uses ${feature}, which device ${ordinal} does not support.`,
      )
  if (bounds === 'trap' && !features.has('trap'))
    throw new GpuError(
      'unsupported',
      `Kernel "${label}" requests bounds "trap", which device ${ordinal} does not support.`,
    )
  requireSubgroupMatrices(device, source)
  const size = reflection.workgroupSize
  const tooLarge = (what: string, value: number | string, limit: number | string) =>
    new GpuError(
      'too-large',
      `Kernel "${label}" has ${what} ${value}; device ${ordinal} allows at most ${limit}.`,
    )
  if (size.some((extent, axis) => extent > limits.maxWorkgroupSize[axis]!))
    throw tooLarge('a workgroup of', size.join(' x '), limits.maxWorkgroupSize.join(' x '))
  const { bindings, workgroupMemoryByteLength } = reflection
  const storageCount = bindings.filter(({ space }) => space === 'storage').length
  const demands: [what: string, value: number, limit: number][] = [
    ['workgroup invocations', size[0] * size[1] * size[2], limits.maxWorkgroupInvocations],
    ['bytes of workgroup memory', workgroupMemoryByteLength, limits.maxWorkgroupMemoryByteLength],
    ['storage bindings', storageCount, limits.maxStorageBuffersPerDispatch],
  ]
  for (const { space, name, minByteLength } of bindings)
    if (space === 'uniform')
      demands.push([`uniform ${name} of bytes`, minByteLength, limits.maxUniformBindingByteLength])
  for (const [what, value, limit] of demands) if (value > limit) throw tooLarge(what, value, limit)
}

/**
 * The device must support every matrix and product, and the workgroup size in x must be a multiple of the
 * subgroup size.
 */
function requireSubgroupMatrices({ ordinal, info }: Device, { label, reflection }: KernelSource): void {
  const { subgroupMatrices, workgroupSize } = reflection
  if (subgroupMatrices.length === 0) return
  const wrong = unsupportedSubgroupMatrix(subgroupMatrices, info.subgroupMatrixConfigs ?? [])
  if (wrong !== undefined)
    throw new GpuError(
      'unsupported',
      `Kernel "${label}" cannot run on device ${ordinal}: ${describeSubgroupMatrixUse(wrong)}.`,
      wrong.loc,
    )
  const size = info.subgroupMaxSize ?? 32
  if (workgroupSize[0] % size !== 0)
    throw new GpuError(
      'unsupported',
      `Kernel "${label}" uses subgroup matrices with a workgroup size of ${workgroupSize[0]} in x; device ${ordinal} requires a multiple of ${size}.`,
    )
}
