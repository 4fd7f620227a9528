/**
 * One node of a CUDA graph as the addon builds it (native/src/graph.cpp documents the words). `after` holds
 * positions of earlier nodes.
 */
export type GraphNode = NodeBody & { readonly after: readonly number[] }

/** A node without its edges. */
export type NodeBody = KernelNode | CopyNode | FillNode | MessagesNode

interface NodeBase {
  /** The index of the physical GPU in the group. */
  readonly gpu: number
}

export interface KernelNode extends NodeBase {
  readonly kind: 'kernel'
  readonly kernelId: number
  readonly grid: readonly [x: number, y: number, z: number]
  readonly block: readonly [x: number, y: number, z: number]
  readonly dynamicSharedByteLength: number
  /** Addresses and integers of eight bytes each. */
  readonly parameters: readonly number[]
}

/** One side of a copy; `pitch` is the distance between rows. */
export interface CopySide {
  readonly onHost: boolean
  readonly address: number
  readonly pitch: number
}

export interface CopyNode extends NodeBase {
  readonly kind: 'copy'
  readonly source: CopySide
  readonly target: CopySide
  readonly rowByteLength: number
  readonly rows: number
}

export interface FillNode extends NodeBase {
  readonly kind: 'fill'
  readonly address: number
  readonly pitch: number
  readonly value: number
  readonly elementByteLength: number
  readonly elementsPerRow: number
  readonly rows: number
}

/** Messages that make progress together, in dense memory of the GPU. */
export interface MessagesNode extends NodeBase {
  readonly kind: 'messages'
  readonly messages: readonly {
    readonly sends: boolean
    readonly peer: number
    readonly address: number
    readonly byteLength: number
  }[]
}

/** Encodes a graph for the addon. */
export function encodeNodes(nodes: readonly GraphNode[]): Float64Array<ArrayBuffer> {
  const words: number[] = [nodes.length]
  for (const node of nodes) {
    words.push(kindWords[node.kind], node.gpu, node.after.length, ...node.after)
    switch (node.kind) {
      case 'kernel':
        words.push(node.kernelId, ...node.grid, ...node.block, node.dynamicSharedByteLength)
        words.push(node.parameters.length, ...node.parameters)
        break
      case 'copy':
        words.push(...sideWords(node.source), ...sideWords(node.target), node.rowByteLength, node.rows)
        break
      case 'fill':
        words.push(node.address, node.pitch, node.value >>> 0, node.elementByteLength)
        words.push(node.elementsPerRow, node.rows)
        break
      case 'messages':
        words.push(node.messages.length)
        for (const { sends, peer, address, byteLength } of node.messages)
          words.push(sends ? 1 : 0, peer, address, byteLength)
        break
    }
  }
  return Float64Array.from(words)
}

const kindWords = { kernel: 0, copy: 1, fill: 2, messages: 3 } as const

function sideWords(side: CopySide): readonly number[] {
  return [side.onHost ? 1 : 0, side.address, side.pitch]
}
