// Times transforms on one GPU through CUDA, as JSON lines like those of primitives.ts, beside cuFFT's times where `peers.py --only fft` has
// written them:
//   python3 tools/peers/peers.py --only fft --out peers.json
//   node tools/gpu-host/fft-table.ts [peers.json]
// Lines and columns fill 2^27 random complex numbers, or as many real ones. Results are not checked here: the tests of `fft` run on the GPU too.
import { readFileSync } from 'node:fs'
import {
  compileFft,
  type FftPlanOptions,
  fftLimits,
  planFft,
  recordFft,
  shardedFromViews,
} from '@tandem-gpu/algorithms'
import { cuda } from '@tandem-gpu/backend-cuda'
import { type DeviceBuffer, openGroup } from '@tandem-gpu/core'

interface PeerResult {
  readonly work: string
  readonly variant: string
  readonly shape: Readonly<Record<string, number>>
  readonly seconds: number
}

interface Work extends Omit<FftPlanOptions, 'limits'> {
  readonly name: string
}

const total = 2 ** 27
const lines = (length: number): Work => ({
  name: `fft lines ${length}`,
  shape: [Math.floor(total / length), length],
  axes: [1],
})
const cube = (side: number): Work => ({ name: `fft ${side}³`, shape: [side, side, side] })
const works: readonly Work[] = [
  ...[32, 64, 128, 256, 512, 1024, 2048, 4096, 8192].map(lines),
  ...[14, 15, 16, 17, 18, 19, 20].map((bits) => lines(2 ** bits)),
  ...[243, 1000, 1536, 2187, 2401, 3125, 6561].map(lines),
  ...[127, 509, 1009, 2039, 8191].map(lines),
  { name: 'fft 8192²', shape: [8192, 8192] },
  { name: 'fft 8192² transposed', shape: [8192, 8192], order: 'transposed' },
  cube(512),
  { ...cube(512), name: 'fft 512³ transposed', order: 'transposed' },
  cube(1024),
  ...[64, 128, 256, 512, 1024].map((length) => ({
    ...{ name: `fft columns ${length}`, shape: [length, total / length], axes: [0] },
  })),
  ...[512, 1024, 4096, 65_536].flatMap((length) =>
    (['forward', 'inverse'] as const).map((direction) => ({
      ...lines(length),
      ...{ name: `fft ${direction === 'forward' ? 'r2c' : 'c2r'} ${length}`, real: true, direction },
    })),
  ),
]

const [, , peersFile] = process.argv
const peers: readonly PeerResult[] =
  peersFile === undefined ? [] : JSON.parse(readFileSync(peersFile, 'utf8')).results
const group = await openGroup({ backends: [cuda()], devices: 1 })
try {
  const [device] = group.devices
  const most = 2 * 1024 ** 3
  const input = await device!.allocate('f32', most, { zero: false })
  const output = await device!.allocate('f32', most, { zero: false })
  const piece = 2 ** 22
  await group.queue.write(
    input.slice(0, piece),
    Float32Array.from({ length: piece }, () => Math.random() * 2 - 1),
  )
  const filling = group.record((recorder) => {
    for (let done = piece; done < most; done *= 2)
      recorder.copy(input.slice(0, done), input.slice(done, done))
  })
  await group.queue.run(filling)
  filling.destroy()
  const matrix = (buffer: DeviceBuffer<'f32'>, shape: readonly number[], real: boolean) => {
    const columns = shape.slice(1).reduce((product, length) => product * length, real ? 1 : 2)
    const view = buffer.slice(0, shape[0]! * columns).reshape(shape[0]!, columns)
    return shardedFromViews(group, 'f32', [view])
  }
  for (const { name: work, ...options } of works) {
    const plan = planFft({ ...options, limits: fftLimits(group.devices) })
    const fft = await compileFft(group, plan)
    const matrices = {
      input: matrix(input, plan.inputShape, plan.realInput),
      output: matrix(output, plan.outputShape, plan.realOutput),
    }
    const program = group.record((recorder) => recordFft(recorder, group, { fft, ...matrices }))
    await group.queue.run(program, 3)
    const samples: number[] = []
    for (let sample = 0; sample < 5; sample++) samples.push((await group.queue.run(program, 10)).seconds / 10)
    const seconds = samples.sort((a, b) => a - b)[2]!
    const elements = plan.shape.reduce((product, length) => product * length, 1)
    const kernels = fft.passes.flatMap(({ steps }) => steps.map(({ source }) => source.label))
    print({ work, by: 'Tandem', elements, devices: 1, seconds, kernels })
    const variant = plan.realInput ? 'cuFFT r2c' : plan.realOutput ? 'cuFFT c2r' : 'cuFFT'
    // Both orders stand beside the natural one; peers do not time columns.
    const peer = peers.find(
      (one) =>
        one.work === 'fft' &&
        one.variant === variant &&
        Object.values(one.shape).join() === plan.shape.join() &&
        !work.includes('columns'),
    )
    if (peer !== undefined) print({ work, by: 'cuFFT', elements, devices: 1, seconds: peer.seconds })
    for (const one of [program, fft]) one.destroy()
  }
  for (const one of [input, output]) one.destroy()
} finally {
  await group.destroy()
}

function print(line: object): void {
  console.log(JSON.stringify(line))
}
