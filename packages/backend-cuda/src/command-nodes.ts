import { GpuError } from '@tandem-gpu/core'
import type { ByteRegion, PlanBinding } from '@tandem-gpu/core/backend'
import type { CudaKernel } from './cuda-kernel.ts'
import type { CudaCommand, CudaPlan } from './cuda-plan.ts'
import type { CopyNode, CopySide, KernelNode, NodeBody } from './graph-nodes.ts'
import { copyShape, internalKernels } from './internal-kernels.ts'
import type { Links } from './link-copies.ts'
import { trapRecordByteLength } from './trap-record.ts'

/** The addresses of a plan's buffers and of the arena, and the IDs of kernels. */
export interface PlanAddresses extends Links {
  /** Whether the GPU belongs to this process: only such GPUs have nodes. */
  isHere(gpu: number): boolean
  /** The start of a plan buffer. */
  addressOf(buffer: number): { readonly onHost: boolean; readonly address: number; readonly gpu: number }
  /** Start of the uniform block's copy on a GPU. */
  uniformAddress(gpu: number): number
  /** The start of a GPU's trap records, one per command. */
  trapAddress(gpu: number): number
  /** The ID of one of the runtime's own kernels on a GPU. */
  internalKernel(entry: string, gpu: number): number
  /** Page-locked memory for a copy between GPUs that cannot access each other. */
  bounceAddress(command: number): number
  /** The stop word of kernels that look at it in loops. */
  leaveAddress(gpu: number): number
  /** The stop word of kernels that look at it where a workgroup begins; 0 if nothing stops them. */
  startAddress(gpu: number): number
}

/**
 * The size from which copies within one GPU are faster as a kernel than as the driver's copy node (H200, 1
 * GiB: 2,770 GB/s by the node, 4,260 GB/s by a kernel). Below this size, both take a microsecond.
 */
const localKernelByteLength = 256 * 1024
/**
 * The size up to which copies between GPUs use a kernel that reads from the peer, which starts sooner than a
 * copy engine. For larger copies the engine is faster.
 */
export const peerKernelByteLength = 512 * 1024

/** The largest row pitch that the driver accepts in a 2-D copy. */
const maxPitch = 2 ** 31 - 1

/** The nodes of one command; each node follows the previous one. */
export function commandNodes(
  plan: CudaPlan,
  command: CudaCommand,
  memory: PlanAddresses,
): readonly NodeBody[] {
  const gpu = memory.gpuOf(command.device)
  switch (command.kind) {
    case 'dispatch': {
      const kernel = plan.kernels[command.kernel]!
      return [
        {
          kind: 'kernel',
          gpu,
          kernelId: kernel.functionIds[gpu]!,
          grid: command.workgroups,
          block: kernel.workgroupSize,
          dynamicSharedByteLength: kernel.dynamicSharedByteLength,
          parameters: kernelParameters(kernel, command.bindings, command.index, gpu, memory),
        },
      ]
    }
    case 'copy':
    case 'upload':
    case 'download': {
      const source = memory.addressOf(command.source.buffer)
      const target = memory.addressOf(command.target.buffer)
      const from = copySide(command.source, source)
      const to = copySide(command.target, target)
      if (needsBounce(source, target, memory)) {
        const { rowByteLength, rows } = command.source
        const bounce: CopySide = {
          onHost: true,
          address: memory.bounceAddress(command.index),
          pitch: rowByteLength,
        }
        return [
          copyNode(source.gpu, from, bounce, rowByteLength, rows),
          copyNode(target.gpu, bounce, to, rowByteLength, rows),
        ]
      }
      const node = copyNode(gpu, from, to, command.source.rowByteLength, command.source.rows)
      if (source.onHost || target.onHost) return [node]
      const byteLength = node.rowByteLength * node.rows
      const byKernel =
        source.gpu === target.gpu ? byteLength >= localKernelByteLength : byteLength <= peerKernelByteLength
      return [(byKernel ? copyKernelNode(node, memory) : undefined) ?? node]
    }
    case 'fill': {
      const { rowByteLength, rows, rowByteStride } = dense(command.target)
      if (rows > 1 && rowByteStride > maxPitch) throw pitchError(command, rowByteStride)
      return [
        {
          kind: 'fill',
          gpu,
          address: memory.addressOf(command.target.buffer).address + command.target.byteOffset,
          pitch: rowByteStride,
          value: command.pattern,
          elementByteLength: command.patternByteLength,
          elementsPerRow: rowByteLength / command.patternByteLength,
          rows,
        },
      ]
    }
    case 'exchange': {
      const messages = command.messages.map(({ kind, peer, buffer, byteOffset, byteLength }) => {
        const address = memory.addressOf(buffer).address + byteOffset
        return { sends: kind === 'send', peer, address, byteLength }
      })
      return [{ kind: 'messages', gpu, messages }]
    }
  }
}

/**
 * The size of the page-locked memory that a command needs if it is a copy between GPUs that cannot access
 * each other; 0 for all other commands.
 */
export function bounceByteLength(command: CudaCommand, memory: PlanAddresses): number {
  if (command.kind !== 'copy') return 0
  const source = memory.addressOf(command.source.buffer)
  const target = memory.addressOf(command.target.buffer)
  return needsBounce(source, target, memory) ? command.source.rowByteLength * command.source.rows : 0
}

type Place = ReturnType<PlanAddresses['addressOf']>

function needsBounce(source: Place, target: Place, memory: PlanAddresses): boolean {
  return !source.onHost && !target.onHost && !memory.reachable(target.gpu, source.gpu)
}

function copySide(region: ByteRegion, place: Place): CopySide {
  return { onHost: place.onHost, address: place.address + region.byteOffset, pitch: region.rowByteStride }
}

function copyNode(
  gpu: number,
  source: CopySide,
  target: CopySide,
  rowByteLength: number,
  rows: number,
): CopyNode {
  const joined = rows === 1 || (source.pitch === rowByteLength && target.pitch === rowByteLength)
  if (joined) {
    const byteLength = rowByteLength * rows
    return {
      kind: 'copy',
      gpu,
      source: { ...source, pitch: byteLength },
      target: { ...target, pitch: byteLength },
      rowByteLength: byteLength,
      rows: 1,
    }
  }
  for (const { pitch } of [source, target]) {
    if (pitch > maxPitch) throw pitchError({ label: 'copy' }, pitch)
  }
  return { kind: 'copy', gpu, source, target, rowByteLength, rows }
}

/** The same copy as a kernel, if addresses, pitches and lengths are multiples of 16 or 4 bytes. */
function copyKernelNode(node: CopyNode, memory: PlanAddresses): KernelNode | undefined {
  const { gpu, source, target, rowByteLength, rows } = node
  const values = [
    source.address,
    target.address,
    rowByteLength,
    ...(rows > 1 ? [source.pitch, target.pitch] : []),
  ]
  const unit = [16, 4].find((candidate) => values.every((value) => value % candidate === 0))
  if (unit === undefined) return undefined
  const units = rowByteLength / unit
  const entry = unit === 16 ? internalKernels.copy16 : internalKernels.copy4
  const parameters = [source.address, source.pitch, target.address, target.pitch, units, rows]
  return { ...internalNode(memory, gpu, entry, parameters), ...copyShape(units, rows) }
}

/** A node that runs one of the runtime's own kernels in one thread. */
export function internalNode(
  kernels: Pick<PlanAddresses, 'internalKernel'>,
  gpu: number,
  entry: string,
  parameters: readonly number[],
): KernelNode {
  const kernelId = kernels.internalKernel(entry, gpu)
  const one = [1, 1, 1] as const
  return { kind: 'kernel', gpu, kernelId, grid: one, block: one, dynamicSharedByteLength: 0, parameters }
}

/** Merges the region into one row if its rows are contiguous. */
function dense(region: ByteRegion): Pick<ByteRegion, 'rowByteLength' | 'rows' | 'rowByteStride'> {
  const { rowByteLength, rows, rowByteStride } = region
  if (rows > 1 && rowByteStride !== rowByteLength) return { rowByteLength, rows, rowByteStride }
  return { rowByteLength: rowByteLength * rows, rows: 1, rowByteStride: rowByteLength * rows }
}

function pitchError(command: { readonly label: string }, pitch: number): GpuError {
  return new GpuError(
    'too-large',
    `Rows of '${command.label}' are ${pitch} bytes apart; CUDA copies and fills rows that are at most ${maxPitch} bytes apart.`,
  )
}

function kernelParameters(
  kernel: CudaKernel,
  bindings: readonly PlanBinding[],
  commandIndex: number,
  gpu: number,
  memory: PlanAddresses,
): number[] {
  const byPosition = new Map(bindings.map((binding) => [`${binding.group}:${binding.binding}`, binding]))
  // A view has four consecutive parameters, all of one kind.
  const viewWordsGiven = new Map<number, number>()
  return kernel.parameters.map((parameter) => {
    if (parameter.kind === 'trap-record') return memory.trapAddress(gpu) + commandIndex * trapRecordByteLength
    if (parameter.kind === 'stop-word') return memory.leaveAddress(gpu)
    if (parameter.kind === 'stop-word-or-null') return memory.startAddress(gpu)
    const position = kernel.bindings[parameter.bindingIndex!]!
    const binding = byPosition.get(`${position.group}:${position.binding}`)!
    if (binding.kind === 'uniform') return memory.uniformAddress(gpu) + binding.byteOffset
    switch (parameter.kind) {
      case 'byte-length':
        return binding.byteLength
      case 'view': {
        const given = viewWordsGiven.get(parameter.bindingIndex!) ?? 0
        viewWordsGiven.set(parameter.bindingIndex!, given + 1)
        const { view } = binding
        // The offset is relative to the start of the binding.
        return [view.byteOffset - binding.byteOffset, view.rowByteLength, view.rows, view.rowByteStride][
          given
        ]!
      }
      default:
        return memory.addressOf(binding.buffer).address + binding.byteOffset
    }
  })
}
