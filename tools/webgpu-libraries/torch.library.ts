import { describe, expect, it, vi } from 'vitest'
import { expectNear } from './near.ts'
import { onWebGpu } from './on-webgpu.ts'
import { positive, product, rowsOf, sum, values } from './plain.ts'

type Torch = typeof import('webgpu-torch')

let torch: Torch

onWebGpu(async () => {
  // The library prints the device that it has found.
  vi.spyOn(console, 'log').mockImplementation(() => {})
  torch = await import('webgpu-torch')
  expect(await torch.initWebGPUAsync()).toBe(true)
})

const a = values(24)
const b = positive(24)

describe('webgpu-torch', () => {
  const matrix = (numbers: readonly number[], columns: number) => torch.tensor(rowsOf(numbers, columns))
  const read = async (tensor: { toArrayAsync(): Promise<unknown> }) =>
    [(await tensor.toArrayAsync()) as number].flat(3)

  it('adds, multiplies and divides element by element', async () => {
    const [x, y] = [matrix(a, 6), matrix(b, 6)]
    expectNear(
      await read(
        x
          .add(y)
          .mul(y)
          .div(torch.tensor(Array(4).fill(Array(6).fill(3)))),
      ),
      a.map((value, i) => ((value + b[i]!) * b[i]!) / 3),
    )
  })

  it.each([
    ['exp', Math.exp],
    ['log', Math.log],
    ['sqrt', Math.sqrt],
    ['sin', Math.sin],
    ['tanh', Math.tanh],
    ['sigmoid', (x: number) => 1 / (1 + Math.exp(-x))],
    ['relu', (x: number) => Math.max(0, x)],
    ['floor', Math.floor],
  ] as const)('takes %s', async (name, expected) => {
    const x = name === 'log' || name === 'sqrt' ? b : a
    expectNear(await read(torch[name](torch.tensor([...x]))), x.map(expected))
  })

  it('multiplies matrices', async () => {
    expectNear(await read(torch.mm(matrix(a, 6), matrix(b, 4))), product(rowsOf(a, 6), rowsOf(b, 4)).flat())
  })

  it('sums', async () => expectNear(await read(torch.sum(matrix(a, 6))), [sum(a)]))

  it('takes powers and hypotenuses', async () => {
    const [x, y] = [torch.tensor([...b]), torch.tensor([...a])]
    expectNear(
      await read(torch.pow(x, y)),
      b.map((value, i) => value ** a[i]!),
    )
    expectNear(
      await read(torch.hypot(x, y)),
      b.map((value, i) => Math.hypot(value, a[i]!)),
    )
  })

  it('differentiates', async () => {
    const x = torch.tensor({ data: [...a], requiresGrad: true })
    torch.sin(torch.square(x)).backward(torch.ones([24]))
    expectNear(
      await read(x.grad!),
      a.map((value) => 2 * value * Math.cos(value * value)),
    )
  })
})
