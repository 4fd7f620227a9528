import type { ElementType } from '../buffers/element-type.ts'
import type { HostView } from '../buffers/host-buffer.ts'
import type { AllocateOptions, BufferView, Device, DeviceBuffer } from '../group/device.ts'
import type { Kernel } from '../kernels/kernel.ts'
import type { Parameter, ParameterType, ParameterValue } from '../kernels/parameter.ts'

/** An array or typed array of numbers. */
export type UniformArray = readonly number[] | Float32Array | Float64Array | Int32Array | Uint32Array

/**
 * The value of a uniform member: a number or a parameter for a scalar; the components of a vector, or a
 * parameter of its type; the elements of a matrix column after column, or its columns; the elements of an
 * array, or the scalars of them all; an object for a structure.
 */
export type UniformValue =
  | number
  | Parameter
  | UniformArray
  | readonly UniformValue[]
  | { readonly [member: string]: UniformValue }

/** A view for a storage binding; a value for a uniform member. */
export type DispatchArgument = BufferView | UniformValue

/** By name: the arguments of a dispatch for a kernel whose arguments TypeScript does not know. */
export type UntypedArguments = Readonly<Record<string, DispatchArgument>>

/** The arguments of a `Kernel<A>`; `UntypedArguments` if `A` is not known. */
export type ArgumentsOf<A> = unknown extends A ? UntypedArguments : A

/** Options of `Recorder.dispatch`. */
export interface DispatchOptions<A = unknown> {
  /** The device that runs it; default: the device that owns the first written view. */
  readonly device?: Device | number | undefined
  /** Workgroups per dimension; y and z default to 1. Zero in any dimension drops the command. */
  readonly workgroups: number | readonly [x: number, y?: number, z?: number]
  /**
   * By name: one view for each storage binding, one value for each uniform member that core does not fill in.
   */
  readonly args: ArgumentsOf<A>
  readonly label?: string | undefined
}

/** Options of copies and fills. */
export interface CommandOptions {
  readonly label?: string | undefined
}

/**
 * Records commands. Nothing runs during recording; every method throws `GpuError` (`validation`, `too-large`)
 * immediately for commands that could not run. The order of execution follows from what each command reads
 * and writes.
 */
export interface Recorder {
  readonly devices: readonly Device[]
  /**
   * Runs a kernel. For each storage binding `x`, core binds the memory from a multiple of 256 bytes at or
   * before the view to the view's end, and fills in the uniform members that `args` omits: `x_base` (the
   * view's first element inside the bound range) and `x_stride` (leading dimension), both in array elements
   * of the binding; `x_rows`, `x_columns` and `x_length` in elements of the buffer. Kernels index `x[x_base +
   * row * x_stride + column]`. If the kernel has a member `x_base` but no binding `x`, as a variant of a
   * shared source may, the members of `x` that `args` omits are 0. A command whose views are all empty is
   * dropped. Binding another device's memory needs `canAccessPeer`. Within one dispatch a buffer may not be
   * bound both as `read` and as `read_write`, and may be bound twice as `read_write` only if the bound ranges
   * are disjoint.
   */
  dispatch<A>(kernel: Kernel<A>, options: DispatchOptions<A>): void
  /**
   * Whether this process takes part in commands that use memory of any of `devices`; always true in a group
   * of one process, and with the serial schedule. A command that uses only memory of other processes' devices
   * need not be recorded; if there are many devices, ask before creating views and labels.
   */
  touches(...devices: readonly (Device | number)[]): boolean
  /**
   * Copies between equal rows and columns, of devices or of host memory; leading dimensions and devices may
   * differ. Parts of one buffer must not overlap.
   */
  copy(source: BufferView | HostView, target: BufferView | HostView, options?: CommandOptions): void
  /** Sets every element to `value`, converted to the buffer's type. */
  fill(target: BufferView, value: number, options?: CommandOptions): void
  /** A copy from host memory to a device. */
  upload(source: HostView, target: BufferView, options?: CommandOptions): void
  /** A copy from a device to host memory. */
  download(source: BufferView, target: HostView, options?: CommandOptions): void
  /**
   * Orders the commands that concern one device: those that run on it, access its memory, or access host
   * memory allocated for it. The ones recorded before the fence complete before the ones recorded after it
   * begin. Other devices do not wait.
   */
  fence(device: Device | number): void
  /**
   * Memory that the program owns, allocated when it is prepared. Contents are undefined unless `zero` is
   * true.
   */
  scratch<T extends ElementType>(
    device: Device | number,
    type: T,
    shape: number | readonly [rows: number, columns: number],
    options?: AllocateOptions,
  ): DeviceBuffer<T>
  /** A scalar or a vector that `run({ parameters: { name: value } })` may change without recording again. */
  parameter(name: string, type: ParameterType, initial: ParameterValue): Parameter
}
