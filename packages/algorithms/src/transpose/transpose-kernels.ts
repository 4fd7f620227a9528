import {
  type CompileOptions,
  type DeviceGroup,
  type ElementType,
  GpuError,
  type Kernel,
} from '@tandem-gpu/core'
import { compileTerminating } from '../compile-terminating.ts'
import { characterOf } from '../device-character.ts'
import type { OptionTypesOf } from '../option-types.ts'
import persistentWgsl from './transpose-persistent.wgsl.ts'
import registersWgsl from './transpose-registers.wgsl.ts'
import scatterWgsl from './transpose-scatter.wgsl.ts'
import squareWgsl from './transpose-square.wgsl.ts'
import stripsWgsl from './transpose-strips.wgsl.ts'

const transposeTypes = ['f32', 'i32', 'u32'] as const
/** Types of elements that are transposed. */
export type TransposeType = (typeof transposeTypes)[number]

/**
 * `square`: the book's kernel, 32 × 32 tiles through workgroup memory. `strips`: 32 × 64 tiles in an order
 * that suits memory better. `registers`: without barriers, which are slow on adapters that the CPU runs.
 */
export type TransposeVariant = keyof typeof variants

const variants = {
  square: { wgsl: squareWgsl, tile: [32, 32] },
  strips: { wgsl: stripsWgsl, tile: [32, 64] },
  registers: { wgsl: registersWgsl, tile: [32, 32] },
} as const

/** The block that one workgroup of the scattering kernel transposes: columns × rows of the sender's slice. */
const scatterTile = [32, 64] as const

const persistentTile = [64, 64] as const
/** The workgroup size of the persistent kernels; only CUDA devices support one this large. */
const persistentInvocations = 1024

/**
 * The number of slices that one dispatch of the scattering kernel writes. Together with the input, this is
 * the number of storage buffers that every device can bind.
 */
const mostOutputs = 7

/** The result of `compileTranspose`: kernels for a variant and a type. */
export interface TransposeKernel {
  /** Transposes one block. */
  readonly kernel: Kernel
  readonly variant: TransposeVariant
  /** The tile of one workgroup. */
  readonly tile: readonly [columns: number, rows: number]
  /** Transposes one sender's blocks for all receivers at once. Transport `scatter` needs it. */
  readonly scatter?: ScatterKernel
  /** The kernels that run while messages between processes are in flight. */
  readonly persistent?: PersistentKernels
  destroy(): void
}

/** Kernels whose workgroups continue with further tiles, so that few of them process a block of any size. */
export interface PersistentKernels {
  /** Transposes one block. */
  readonly transpose: Kernel
  /** Copies one block. */
  readonly copy: Kernel
  readonly tile: readonly [columns: number, rows: number]
}

/** A kernel of a sender that writes its transposed blocks into the slices of several receivers. */
export interface ScatterKernel {
  readonly kernel: Kernel
  /** The tile of one workgroup. */
  readonly tile: readonly [columns: number, rows: number]
  /** The number of slices that one dispatch writes. */
  readonly outputs: number
}

/**
 * The options of `transpose` that change its kernels: it takes them from here, passes them on to
 * `compileTranspose`, and tunes nothing if the caller sets one.
 */
export interface TransposeKernelOptions {
  /** Default: the kernel that suits the devices. */
  readonly kernel?: TransposeVariant | undefined
}

export const transposeKernelOptions = {
  kernel: 'string',
} as const satisfies OptionTypesOf<TransposeKernelOptions>

/** Options of `compileTranspose`. */
export interface CompileTransposeOptions extends TransposeKernelOptions {
  readonly type: ElementType
  /** Compiles the scattering kernel. Default: if `chooseTransport` uses it. */
  readonly scatter?: boolean | undefined
  /**
   * Compiles the kernels that run while messages between processes are in flight. Default: if there are such
   * messages and all devices support the kernels' workgroup size.
   */
  readonly persistent?: boolean | undefined
}

/** Compiles the kernels for a transpose. */
export async function compileTranspose(
  group: DeviceGroup,
  options: CompileTransposeOptions,
): Promise<TransposeKernel> {
  const {
    type,
    kernel: variant = defaultVariant(group),
    scatter = scattersByDefault(group),
    persistent = worksBesideMessages(group),
  } = options
  const outputs = outputsFor(group.devices.length)
  const { kernels, destroy } = await compileTerminating(group, {
    kernel: transposeSource(type, variant),
    scatter: scatter ? scatterSource(type, outputs) : undefined,
    persistentTranspose: persistent ? persistentSource(type, 'transpose') : undefined,
    persistentCopy: persistent ? persistentSource(type, 'copy') : undefined,
  })
  const { persistentTranspose, persistentCopy } = kernels
  return {
    kernel: kernels.kernel,
    variant,
    tile: variants[variant].tile,
    ...(kernels.scatter ? { scatter: { kernel: kernels.scatter, tile: scatterTile, outputs } } : {}),
    ...(persistentTranspose && persistentCopy
      ? { persistent: { transpose: persistentTranspose, copy: persistentCopy, tile: persistentTile } }
      : {}),
    destroy,
  }
}

/** The kernel that uses workgroup memory, or the one without barriers if they are slow. */
export function defaultVariant(group: Pick<DeviceGroup, 'software'>): TransposeVariant {
  return characterOf(group).fastBarriers ? 'strips' : 'registers'
}

/** Whether devices write to their peers' memory by default: on hardware with more than one GPU. */
export function scattersByDefault(group: Pick<DeviceGroup, 'software' | 'devices'>): boolean {
  return characterOf(group).ownMemory && new Set(group.devices.map(({ info }) => info.id)).size > 1
}

/**
 * Whether tiles are messages between processes, and all devices accept the workgroup size of the kernels that
 * run at the same time.
 */
function worksBesideMessages(group: DeviceGroup): boolean {
  const { devices } = group
  const [first] = devices
  return (
    devices.some((other) => other.rank !== first!.rank && !group.canAccessPeer(other, first!)) &&
    devices.every(({ limits }) => limits.maxWorkgroupInvocations >= persistentInvocations)
  )
}

/**
 * The number of slices that one dispatch writes on `devices` devices: all, or an equal part if a dispatch
 * cannot bind all.
 */
function outputsFor(devices: number): number {
  return Math.ceil(devices / Math.ceil(devices / mostOutputs))
}

function transposeSource(type: ElementType, variant: TransposeVariant): CompileOptions {
  requireType(type)
  if (!Object.hasOwn(variants, variant))
    throw new GpuError(
      'validation',
      `There is no transpose kernel ${variant}; the kernels are ${Object.keys(variants).join(', ')}.`,
    )
  return {
    label: `transpose-${variant} ${type}`,
    wgsl: `alias Element = ${type};\n${variants[variant].wgsl}`,
  }
}

function scatterSource(type: ElementType, outputs: number): CompileOptions {
  requireType(type)
  return {
    label: `transpose-scatter ${outputs} ${type}`,
    wgsl: `alias Element = ${type};\n${repeatForOutputs(scatterWgsl, outputs)}`,
  }
}

function persistentSource(type: ElementType, pass: 'transpose' | 'copy'): CompileOptions {
  requireType(type)
  return {
    label: `transpose-persistent ${pass} ${type}`,
    wgsl: `alias Element = ${type};\nconst transposes = ${pass === 'transpose'};\n${persistentWgsl}`,
  }
}

/**
 * The template's text between "for each output" and "end", once for each output with its number in place of
 * K.
 */
function repeatForOutputs(template: string, outputs: number): string {
  return template.replace(/^ *\/\/ for each output\n(.*?)^ *\/\/ end\n/gms, (_, lines: string) =>
    Array.from({ length: outputs }, (_, k) =>
      lines.replace(/\b(output|first|case |binding\()K/g, `$1${k}`),
    ).join(''),
  )
}

function requireType(type: ElementType): void {
  if (!transposeTypes.includes(type as TransposeType))
    throw new GpuError('unsupported', `A transpose needs elements of f32, i32 or u32, not ${type}.`)
}

/** Every kernel that the transpose can use: for tests and for ahead-of-time compilation. */
export function transposeSources(): CompileOptions[] {
  const names = Object.keys(variants) as TransposeVariant[]
  return transposeTypes.flatMap((type) => [
    ...names.map((variant) => transposeSource(type, variant)),
    ...(['transpose', 'copy'] as const).map((pass) => persistentSource(type, pass)),
    ...Array.from({ length: mostOutputs - 1 }, (_, index) => scatterSource(type, index + 2)),
  ])
}
