import { seededRandom } from '@tandem-gpu/core/testing'
import { describe, expect, it } from 'vitest'
import { bounceByteLength, commandNodes, type PlanAddresses } from './command-nodes.ts'
import type { CudaKernel } from './cuda-kernel.ts'
import type { CudaAllocation, CudaCommand, RecordedPlan } from './cuda-plan.ts'
import type { CopySide, GraphNode, NodeBody } from './graph-nodes.ts'
import { internalKernels, syncKernels } from './internal-kernels.ts'
import { flagsPerRepetition, lowerPerGpu, type SyncMemory } from './lower-per-gpu.ts'
import { type GraphSet, lowerToOneGraph } from './lower-plan.ts'
import { dispatch, plan, region } from './testing/plan-text.ts'
import { launchSteps, unroll } from './unrolling.ts'

/** IDs of the runtime's kernels, by entry. */
const entries = [...Object.values(internalKernels), ...Object.values(syncKernels)]
const kernelId = (entry: string) => 1000 + entries.indexOf(entry as never)
const syncId = kernelId(syncKernels.sync)

/** Every device is a separate GPU; buffer i starts at (i + 1) · 2^20. */
function memoryOf(program: RecordedPlan, reachable = true): PlanAddresses {
  return {
    gpuOf: (device) => device,
    isHere: () => true,
    addressOf: (buffer) => {
      const found = program.buffers[buffer]!
      return {
        onHost: found.kind === 'host',
        address: (buffer + 1) * 2 ** 20,
        gpu: found.kind === 'host' ? 0 : found.device,
      }
    },
    uniformAddress: (gpu) => gpu * 4096,
    trapAddress: () => 0,
    reachable: (reader, owner) => reader === owner || reachable,
    isSwitched: () => true,
    internalKernel: kernelId,
    bounceAddress: () => 77,
    leaveAddress: () => 5,
    startAddress: () => 0,
  }
}

const sync: SyncMemory = {
  epochAddress: (gpu) => 10 + gpu,
  flagAddress: (gpu, slot) => 10_000 * (gpu + 1) + slot,
  stopAddress: 5,
}

const buffer = (device: number, byteLength = 4096): CudaAllocation => ({
  device,
  byteLength,
  gpu: device,
  address: 0,
})
const kernel = {
  label: 'add',
  functionIds: [1, 2, 3],
  workgroupSize: [4, 1, 1],
  dynamicSharedByteLength: 0,
  parameters: [],
  bindings: [],
  bounds: 'clamp',
  isStoppable: true,
} as CudaKernel

/** Each GPU computes its half from both halves of the previous repetition. */
function stencil(): RecordedPlan {
  const part = (index: number) => region(index, 0, 64)
  return plan(
    [buffer(0), buffer(1), buffer(0), buffer(1)],
    [
      dispatch(0, part(1), part(2), 0, { afterPrevious: [2, 3] }),
      dispatch(1, part(0), part(3), 0, { afterPrevious: [2, 3] }),
      dispatch(0, part(3), part(0), 0, { after: [0, 1] }),
      dispatch(1, part(2), part(1), 0, { after: [0, 1] }),
    ],
    [kernel],
    [1],
  )
}

const isSync = (node: GraphNode) => node.kind === 'kernel' && node.kernelId === syncId
const signalsOf = (node: GraphNode) =>
  node.kind === 'kernel' ? node.parameters.slice(5, 5 + node.parameters[2]!) : []
const waitsOf = (node: GraphNode) =>
  node.kind === 'kernel' ? node.parameters.slice(13, 13 + node.parameters[3]!) : []
/** The flags that a node sets, whether it is a kernel or a copy. All buffers are after the flags. */
const raisedBy = (node: GraphNode) =>
  isSync(node)
    ? signalsOf(node)
    : node.kind === 'copy' && node.target.address < 2 ** 20
      ? [node.target.address]
      : []

describe('one graph for each GPU', () => {
  it('puts one synchronisation between two steps of a stencil: signal the neighbour, then wait for it', () => {
    const program = stencil()
    const graphs = lowerPerGpu(program, 4, memoryOf(program), sync)
    expect(graphs.map(({ mainGpu }) => mainGpu)).toEqual([0, 1])
    for (const { nodes } of graphs) {
      // begin, the first wait, eight steps; a synchronization after each step.
      expect(nodes).toHaveLength(1 + 1 + 8 + 8)
      expect(nodes.every((node) => node.kind === 'kernel' && node.after.length <= 2)).toBe(true)
      const steady = nodes.filter(isSync).slice(1, -1)
      for (const node of steady) expect([signalsOf(node).length, waitsOf(node).length]).toEqual([1, 1])
    }
  })

  it('waits for the launch before only in the first repetition', () => {
    const program = stencil()
    const [{ nodes }] = lowerPerGpu(program, 3, memoryOf(program), sync) as unknown as [
      { nodes: GraphNode[] },
    ]
    const lags = nodes.filter(isSync).map((node) => (node.kind === 'kernel' ? node.parameters[4] : 0))
    expect(lags[0]).toBe(1)
    expect(lags.slice(1).every((bits) => bits === 0)).toBe(true)
  })

  it('raises every flag once per launch, on the GPU that waits for it, and waits for no other', () => {
    const program = stencil()
    const graphs = lowerPerGpu(program, 5, memoryOf(program), sync)
    const raised = graphs.flatMap(({ nodes }) =>
      nodes.flatMap((node) => (isSync(node) ? signalsOf(node) : [])),
    )
    const awaited = graphs.flatMap(({ nodes, mainGpu }) =>
      nodes.flatMap((node) => (isSync(node) ? waitsOf(node) : [])).map((flag) => ({ flag, mainGpu })),
    )
    expect(new Set(raised).size).toBe(raised.length)
    expect(raised.length).toBe(flagsPerRepetition(program, (device) => device) * 5)
    expect(new Set(awaited.map(({ flag }) => flag))).toEqual(new Set(raised))
    for (const { flag, mainGpu } of awaited) expect(Math.floor(flag / 10_000) - 1).toBe(mainGpu)
  })

  it('starts no wait before the signals of commands recorded earlier on its GPU', () => {
    // Signals of unordered commands: 0 and 1 on GPU 0, for 2 and 3 on GPU 1; 4 waits for both.
    const part = (index: number) => region(index, 0, 64)
    const program = plan(
      [buffer(0), buffer(0), buffer(1), buffer(1), buffer(0)],
      [
        dispatch(0, part(0), part(0), 0),
        dispatch(0, part(1), part(1), 0),
        dispatch(1, part(0), part(2), 0, { after: [0] }),
        dispatch(1, part(1), part(3), 0, { after: [1] }),
        dispatch(0, part(2), part(4), 0, { after: [2] }),
      ],
      [kernel],
      [1],
    )
    const [{ nodes }] = lowerPerGpu(program, 1, memoryOf(program), sync) as unknown as [
      { nodes: GraphNode[] },
    ]
    const signals = nodes.flatMap((node, index) =>
      isSync(node) && signalsOf(node).length > 0 ? [index] : [],
    )
    const wait = nodes.find((node) => isSync(node) && waitsOf(node).length > 0)!
    expect([...wait.after].sort()).toEqual(signals)
  })

  it('starts early waits before the signals of commands recorded after the awaited one', () => {
    // GPU 1 produces a value. A long command of GPU 0 follows, for whose end GPU 1 waits; the last command
    // needs only the value.
    const part = (index: number) => region(index, 0, 64)
    const program = plan(
      [buffer(1), buffer(0), buffer(1), buffer(0)],
      [
        dispatch(1, part(0), part(0), 0),
        dispatch(0, part(1), part(1), 0),
        dispatch(1, part(1), part(2), 0, { after: [1] }),
        dispatch(0, part(0), part(3), 0, { after: [0] }),
      ],
      [kernel],
      [1],
    )
    const waitAfter = (largeCopies: boolean) => {
      const graphs = lowerPerGpu(program, 1, memoryOf(program), sync, { largeCopies })
      const { nodes } = graphs.find(({ mainGpu }) => mainGpu === 0)!
      const { after } = nodes.find((node) => isSync(node) && waitsOf(node).length > 0)!
      return after.map((index) => (index === 0 ? 'begin' : 'command'))
    }
    expect([waitAfter(false), waitAfter(true)]).toEqual([['command'], ['begin']])
  })

  it("lets the copy engine raise the flags after a large copy, with copies of its GPU's epoch, unless the host copies too", () => {
    const part = (index: number) => region(index, 0, 64)
    const host = { arrayBuffer: new ArrayBuffer(64), locked: Promise.resolve(), mapped: false, address: 0 }
    const commands = [
      dispatch(0, part(0), part(1), 0),
      dispatch(1, part(1), part(1), 0, { after: [0] }),
      dispatch(2, part(1), part(2), 0, { after: [0] }),
      dispatch(0, part(0), part(0), 0, { after: [1] }),
    ]
    const download = { kind: 'download' as const, device: 1, source: part(1), target: part(3) }
    const signalsBehind = (largeCopies: boolean, toHost: boolean) => {
      const all = toHost ? [...commands, { ...download, after: [1], afterPrevious: [] }] : commands
      const program = plan([buffer(0), buffer(1), buffer(2), host], all, [kernel], [1])
      const nodesOf = engineNodes(new Set([0]))
      const graphs = lowerPerGpu(program, 1, memoryOf(program), sync, { largeCopies, nodesOf })
      const { nodes } = graphs.find(({ mainGpu }) => mainGpu === 0)!
      const copied = nodes.findIndex((node) => node.kind === 'copy')
      return nodes.filter((node) => raisedBy(node).length > 0 && node.after.includes(copied))
    }
    const raised = (nodes: readonly GraphNode[]) =>
      nodes.flatMap(raisedBy).map((flag) => Math.floor(flag / 10_000) - 1)
    const byEngine = signalsBehind(true, false)
    expect(raised(byEngine)).toEqual([1, 2])
    for (const node of byEngine)
      expect(node).toMatchObject({
        kind: 'copy',
        source: { address: sync.epochAddress(0) },
        rowByteLength: 4,
        rows: 1,
      })
    for (const byKernel of [signalsBehind(false, false), signalsBehind(true, true)]) {
      expect(byKernel).toHaveLength(1)
      expect(raised(byKernel)).toEqual([1, 2])
    }
  })

  it.each([false, true])(
    'ends in order whichever order the queues of the GPUs hold its nodes in (large copies: %s)',
    (largeCopies) => {
      for (let seed = 1; seed <= 60; seed++) {
        const random = randomBelow(seed)
        const { program, nodesOf } = randomProgram(random)
        const repetitions = 1 + random(3)
        const graphs = lowerPerGpu(program, repetitions, memoryOf(program), sync, { largeCopies, nodesOf })
        for (let order = 0; order < 8; order++)
          expect(launched(graphs, program, repetitions, random), `seed ${seed}`).toBe('ends')
      }
    },
  )

  it('would stop in some order if waits did not come after signals', () => {
    expect(outcomes((node) => isSync(node) && signalsOf(node).length === 0)).toContain('stops')
  })

  it('would begin a command too early in some order if a flag of the copy engine did not come after its copy', () => {
    expect(outcomes((node) => node.kind === 'copy' && raisedBy(node).length > 0)).toContain('disorder')
  })
})

/** The outcomes of random programs if loose nodes only follow the beginning of their graph. */
function outcomes(isLoose: (node: GraphNode) => boolean): Set<string> {
  const found = new Set<string>()
  for (let seed = 1; seed <= 60; seed++) {
    const random = randomBelow(seed)
    const { program, nodesOf } = randomProgram(random)
    const graphs = lowerPerGpu(program, 2, memoryOf(program), sync, { largeCopies: true, nodesOf }).map(
      (graph) => ({
        ...graph,
        nodes: graph.nodes.map((node, index) =>
          isLoose(node) ? { ...node, after: index === 0 ? [] : [0] } : node,
        ),
      }),
    )
    for (let order = 0; order < 8; order++) found.add(launched(graphs, program, 2, random))
  }
  return found
}

/** Integers below a bound, the same for the same seed. */
function randomBelow(seed: number): (below: number) => number {
  const random = seededRandom(seed)
  return (below) => Math.floor(random() * below)
}

/**
 * Commands of three GPUs, each of which waits for some earlier ones and for some of the previous repetition;
 * copy engines execute some.
 */
function randomProgram(random: (below: number) => number) {
  const count = 4 + random(9)
  const commands = Array.from({ length: count }, (_, index) => {
    const device = random(3)
    const after = Array.from({ length: index }, (_, earlier) => earlier).filter(() => random(3) === 0)
    const afterPrevious = Array.from({ length: count }, (_, other) => other).filter(() => random(5) === 0)
    return dispatch(device, region(device, 0, 64), region(device, 0, 64), 0, { after, afterPrevious })
  })
  const byEngine = new Set([...commands.keys()].filter(() => random(2) === 0))
  const program = plan([buffer(0), buffer(1), buffer(2)], commands, [kernel], [1])
  return { program, nodesOf: engineNodes(byEngine) }
}

/** One node for each command: a copy for those given, a kernel for the others. */
function engineNodes(byEngine: ReadonlySet<number>) {
  return ({ device, index }: CudaCommand): NodeBody[] => {
    const side: CopySide = { onHost: false, address: 2 ** 20, pitch: 64 }
    if (byEngine.has(index))
      return [{ kind: 'copy', gpu: device, source: side, target: side, rowByteLength: 64, rows: 1 }]
    const one = [1, 1, 1] as const
    return [
      {
        kind: 'kernel',
        gpu: device,
        kernelId: 1,
        grid: one,
        block: one,
        dynamicSharedByteLength: 0,
        parameters: [],
      },
    ]
  }
}

/**
 * The outcome of a launch if each GPU has some queues, which contain its nodes in any order that its edges
 * allow: the first node of a queue delays the others. `disorder`: a command of this launch has begun before
 * one for which it waits was done.
 */
function launched(
  graphs: GraphSet,
  program: RecordedPlan,
  repetitions: number,
  random: (below: number) => number,
): 'ends' | 'stops' | 'disorder' {
  const items = unroll(program.commands, repetitions)
  const complete = new Set<number>()
  const raised = new Set<number>()
  const states = graphs.map(({ mainGpu, nodes }) => {
    // The commands of a GPU, one node each, in their order.
    const own = items.flatMap(({ command }, position) => (command.device === mainGpu ? [position] : []))
    const carriesOut = (node: GraphNode) =>
      raisedBy(node).length === 0 && (node.kind !== 'kernel' || node.kernelId === 1)
    const commandOf = nodes.map((node) => (carriesOut(node) ? own.shift() : undefined))
    const queues = Array.from({ length: 1 + random(3) }, (): number[] => [])
    const placed = new Set<number>()
    while (placed.size < nodes.length) {
      const free = nodes.flatMap(({ after }, index) =>
        !placed.has(index) && after.every((earlier) => placed.has(earlier)) ? [index] : [],
      )
      const next = free[random(free.length)]!
      placed.add(next)
      queues[random(queues.length)]!.push(next)
    }
    return { nodes, queues, commandOf, done: new Set<number>() }
  })
  for (let moved = true; moved; ) {
    moved = false
    for (const { nodes, queues, commandOf, done } of states)
      for (const queue of queues) {
        const node = nodes[queue[0]!]
        if (node === undefined || !node.after.every((earlier) => done.has(earlier))) continue
        const before = raised.size
        for (const flag of raisedBy(node)) raised.add(flag)
        moved ||= raised.size > before
        if (isSync(node)) {
          const lags = node.kind === 'kernel' ? node.parameters[4]! : 0
          if (!waitsOf(node).every((flag, index) => (lags >> index) & 1 || raised.has(flag))) continue
        }
        const command = commandOf[queue[0]!]
        if (command !== undefined) {
          if (!items[command]!.after.every((earlier) => complete.has(earlier))) return 'disorder'
          complete.add(command)
        }
        done.add(queue.shift()!)
        moved = true
      }
  }
  return complete.size === items.length ? 'ends' : 'stops'
}

describe('copies', () => {
  const copy = (source: ReturnType<typeof region>, target: ReturnType<typeof region>, device = 0) => ({
    kind: 'copy' as const,
    device,
    source,
    target,
    after: [],
    afterPrevious: [],
  })
  const nodesOf = (program: RecordedPlan, reachable = true) =>
    commandNodes(program, program.commands[0]!, memoryOf(program, reachable))

  it("within a GPU are the copy engine's when small, a kernel of 16-byte words when large", () => {
    const both = [buffer(0, 2 ** 20), buffer(0, 2 ** 20)]
    expect(nodesOf(plan(both, [copy(region(0, 0, 4096), region(1, 0, 4096))]))).toMatchObject([
      { kind: 'copy', rows: 1 },
    ])
    const large = nodesOf(plan(both, [copy(region(0, 0, 2 ** 19), region(1, 16, 2 ** 19))]))
    expect(large).toMatchObject([
      { kind: 'kernel', kernelId: kernelId(internalKernels.copy16), grid: [128, 1, 1] },
    ])
    const odd = nodesOf(plan(both, [copy(region(0, 2, 2 ** 19), region(1, 0, 2 ** 19))]))
    expect(odd).toMatchObject([{ kind: 'copy' }])
  })

  it("between GPUs are a kernel when small, the copy engine's when large", () => {
    const both = [buffer(0, 2 ** 21), buffer(1, 2 ** 21)]
    const column = nodesOf(plan(both, [copy(region(0, 4, 4, 100, 400), region(1, 8, 4, 100, 300), 1)]))
    expect(column).toMatchObject([
      {
        kind: 'kernel',
        gpu: 1,
        kernelId: kernelId(internalKernels.copy4),
        grid: [1, 100, 1],
        parameters: [2 ** 20 + 4, 400, 2 ** 21 + 8, 300, 1, 100],
      },
    ])
    const large = nodesOf(plan(both, [copy(region(0, 0, 2 ** 20), region(1, 0, 2 ** 20), 1)]))
    expect(large).toMatchObject([{ kind: 'copy', gpu: 1 }])
  })

  it('bounce through the host between GPUs that do not reach each other', () => {
    const program = plan([buffer(0), buffer(1)], [copy(region(0, 0, 12, 4, 40), region(1, 0, 12, 4, 24), 1)])
    expect(bounceByteLength(program.commands[0]!, memoryOf(program, false))).toBe(48)
    const nodes = nodesOf(program, false)
    expect(nodes).toMatchObject([
      { kind: 'copy', gpu: 0, target: { onHost: true, address: 77, pitch: 12 } },
      { kind: 'copy', gpu: 1, source: { onHost: true, address: 77, pitch: 12 } },
    ])
    const [{ nodes: chained }] = lowerToOneGraph(program, 1, memoryOf(program, false)) as unknown as [
      { nodes: GraphNode[] },
    ]
    expect(chained[1]!.after).toEqual([0])
  })

  it('of rows that touch become one run, and rows too far apart are refused', () => {
    const host = { arrayBuffer: new ArrayBuffer(64), locked: Promise.resolve(), mapped: false, address: 0 }
    const joined = plan(
      [host, buffer(0)],
      [{ ...copy(region(0, 0, 16, 4), region(1, 0, 16, 4)), kind: 'upload' as const }],
    )
    expect(nodesOf(joined)).toMatchObject([{ kind: 'copy', rowByteLength: 64, rows: 1 }])
    const far = plan(
      [buffer(0), buffer(1)],
      [copy(region(0, 0, 2 ** 20, 2, 2 ** 31), region(1, 0, 2 ** 20, 2), 1)],
    )
    expect(() => nodesOf(far)).toThrow(/2147483648 bytes apart/)
  })
})

describe('launches', () => {
  it('divide the repetitions evenly if possible', () => {
    expect(launchSteps(20, 1000)).toEqual([{ repetitions: 10, launches: 100 }])
    expect(launchSteps(1, 257)).toEqual([
      { repetitions: 256, launches: 1 },
      { repetitions: 1, launches: 1 },
    ])
    expect(launchSteps(1, 3)).toEqual([{ repetitions: 3, launches: 1 }])
    expect(launchSteps(5000, 3)).toEqual([{ repetitions: 1, launches: 3 }])
    expect(launchSteps(4, 1_000_003)).toEqual([
      { repetitions: 64, launches: 15_625 },
      { repetitions: 3, launches: 1 },
    ])
    expect(launchSteps(128, 3)).toEqual([
      { repetitions: 2, launches: 1 },
      { repetitions: 1, launches: 1 },
    ])
  })
})
