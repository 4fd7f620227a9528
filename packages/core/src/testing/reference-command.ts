import type { KernelSource } from '../backend/kernel-source.ts'
import { GpuError } from '../errors.ts'
import { regionEnd } from '../plan/byte-region.ts'
import type { Extent, Plan, PlanBinding, PlanCommand, PlanDispatch, PlanPart } from '../plan/plan.ts'
import type { ReferenceHandles } from './reference-handles.ts'

/** The memory that one run of a plan works on. */
export interface PlanMemory {
  readonly plan: Plan<ReferenceHandles, PlanPart>
  readonly uniformBlock: Uint8Array<ArrayBuffer>
  /** By position in `plan.buffers`. */
  readonly buffers: readonly Uint8Array<ArrayBuffer>[]
}

/** `look` is called every so often while a kernel runs; what it throws ends the command. */
export function executeCommand(memory: PlanMemory, command: PlanCommand, look?: () => void): void {
  switch (command.kind) {
    case 'dispatch':
      dispatch(memory, command, look)
      break
    case 'copy':
    case 'upload':
    case 'download': {
      const { source, target } = command
      copyRows(memory.buffers[source.buffer]!, source, memory.buffers[target.buffer]!, target)
      break
    }
    case 'fill':
      fillRows(
        memory.buffers[command.target.buffer]!,
        command.target,
        command.pattern,
        command.patternByteLength,
      )
      break
  }
}

/** Copies row after row between regions of equal rows and row length. */
export function copyRows(source: Uint8Array, from: Extent, target: Uint8Array, to: Extent): void {
  for (let row = 0; row < from.rows; row++) {
    const start = from.byteOffset + row * from.rowByteStride
    target.set(source.subarray(start, start + from.rowByteLength), to.byteOffset + row * to.rowByteStride)
  }
}

function fillRows(
  bytes: Uint8Array<ArrayBuffer>,
  region: Extent,
  pattern: number,
  patternByteLength: 1 | 2 | 4,
): void {
  const Typed = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array }[patternByteLength]
  const elements = new Typed(bytes.buffer, 0, Math.floor(bytes.byteLength / patternByteLength))
  for (let row = 0; row < region.rows; row++) {
    const start = (region.byteOffset + row * region.rowByteStride) / patternByteLength
    elements.fill(pattern, start, start + region.rowByteLength / patternByteLength)
  }
}

type StorageBinding = Extract<PlanBinding, { kind: 'storage' }>

function dispatch(memory: PlanMemory, command: PlanDispatch, look: (() => void) | undefined): void {
  const { source, kernel } = memory.plan.kernels[command.kernel]!
  const bindings = new Map<string, Uint8Array>()
  const checks = new Map<string, AccessCheck>()
  for (const binding of command.bindings) {
    const key = `${binding.group}.${binding.binding}`
    const bytes = binding.kind === 'uniform' ? memory.uniformBlock : memory.buffers[binding.buffer]!
    bindings.set(key, bytes.subarray(binding.byteOffset, binding.byteOffset + binding.byteLength))
    if (binding.kind === 'storage') checks.set(key, accessCheck(source, command, binding))
  }
  const onAccess = (key: string, byteOffset: number, byteLength: number, use: 'read' | 'write') =>
    checks.get(key)?.(byteOffset, byteLength, use)
  kernel.run({ workgroups: command.workgroups, bindings, onAccess, onLook: look })
}

/** Throws for an access that the declared view does not hold; offsets count from the start of the binding. */
type AccessCheck = (byteOffset: number, byteLength: number, use: 'read' | 'write') => void

function accessCheck(source: KernelSource, command: PlanDispatch, binding: StorageBinding): AccessCheck {
  const { view, name } = binding
  const start = view.byteOffset - binding.byteOffset
  const end = regionEnd(view) - binding.byteOffset
  const { rows, rowByteStride, rowByteLength } = view
  const unit = source.reflection.bindings.find(
    (b) => b.group === binding.group && b.binding === binding.binding,
  )
  return (byteOffset, byteLength, use) => {
    const inside =
      byteOffset >= start &&
      byteOffset + byteLength <= end &&
      (rows === 1 || ((byteOffset - start) % rowByteStride) + byteLength <= rowByteLength)
    if (!inside) {
      const index = Math.floor(byteOffset / (unit?.type.stride || byteLength))
      throw new GpuError(
        'validation',
        `Kernel "${source.label}" (${command.label}) ${use}s ${name}[${index}], byte ${binding.byteOffset + byteOffset} of the buffer, outside the declared view.`,
      )
    }
    if (use === 'write' && !binding.writes)
      throw new GpuError(
        'validation',
        `Kernel "${source.label}" writes ${name}, which its reflection denies.`,
      )
  }
}
