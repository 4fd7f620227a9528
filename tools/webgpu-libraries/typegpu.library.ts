import tgpu, { d, std, type TgpuRoot } from 'typegpu'
import { afterAll, describe, expect, it } from 'vitest'
import { expectNear } from './near.ts'
import { onWebGpu } from './on-webgpu.ts'
import { positive, product, rowsOf, sum, values } from './plain.ts'

let root: TgpuRoot

onWebGpu(async () => {
  root = await tgpu.init()
})
afterAll(() => root.destroy())

const length = 24
const a = values(length)
const b = positive(length)
const floats = d.arrayOf(d.f32, length)

const cube = (x: number) => {
  'use gpu'
  return x * x * x
}

const Particle = d.struct({ position: d.vec3f, mass: d.f32, velocity: d.vec3f })

describe("TypeGPU, with functions that say 'use gpu'", () => {
  it('adds and divides element by element', async () => {
    const [x, y, result] = [
      root.createReadonly(floats, a),
      root.createReadonly(floats, b),
      root.createMutable(floats),
    ]
    const pipeline = root.createGuardedComputePipeline((i) => {
      'use gpu'
      result.$[i] = (x.$[i]! + y.$[i]!) / y.$[i]!
    })
    pipeline.dispatchThreads(length)
    expectNear(
      await result.read(),
      a.map((value, i) => (value + b[i]!) / b[i]!),
    )
  })

  it('calls functions and the standard library', async () => {
    const [x, result] = [root.createReadonly(floats, b), root.createMutable(floats)]
    root
      .createGuardedComputePipeline((i) => {
        'use gpu'
        result.$[i] = std.log(std.exp(std.sin(x.$[i]!))) + cube(std.sqrt(x.$[i]!))
      })
      .dispatchThreads(length)
    expectNear(
      await result.read(),
      b.map((value) => Math.sin(value) + value ** 1.5),
    )
  })

  it('takes constants of the program, conditions and loops', async () => {
    const [x, result] = [root.createReadonly(floats, a), root.createMutable(floats)]
    const rounds = 5
    root
      .createGuardedComputePipeline((i) => {
        'use gpu'
        let total = d.f32(0)
        for (let k = d.u32(0); k <= i && k < rounds; k++) {
          if (x.$[k]! < 0) total -= x.$[k]!
          else total += 2 * x.$[k]!
        }
        result.$[i] = total
      })
      .dispatchThreads(length)
    expectNear(
      await result.read(),
      a.map((_, i) =>
        sum(a.slice(0, Math.min(i + 1, rounds)).map((value) => (value < 0 ? -value : 2 * value))),
      ),
    )
  })

  it('multiplies matrices, two-dimensionally', async () => {
    const [x, y] = [root.createReadonly(floats, a), root.createReadonly(floats, b)]
    const result = root.createMutable(d.arrayOf(d.f32, 16))
    root
      .createGuardedComputePipeline((row, column) => {
        'use gpu'
        let total = d.f32(0)
        for (let k = d.u32(0); k < 6; k++) total += x.$[row * 6 + k]! * y.$[k * 4 + column]!
        result.$[row * 4 + column] = total
      })
      .dispatchThreads(4, 4)
    expectNear(await result.read(), product(rowsOf(a, 6), rowsOf(b, 4)).flat())
  })

  it('computes with vectors and matrices', async () => {
    const matrix = (d.mat4x4f as (...elements: number[]) => d.m4x4f)(...a.slice(0, 16))
    const [m, v] = [root.createUniform(d.mat4x4f, matrix), root.createUniform(d.vec4f, d.vec4f(1, 2, 3, 4))]
    const result = root.createMutable(d.vec4f)
    root
      .createGuardedComputePipeline(() => {
        'use gpu'
        result.$ = std.mul(m.$, v.$)
      })
      .dispatchThreads()
    const { x, y, z, w } = await result.read()
    // Matrices consist of columns.
    const expected = [0, 1, 2, 3].map((row) =>
      sum([0, 1, 2, 3].map((column) => a[4 * column + row]! * (column + 1))),
    )
    expectNear([x, y, z, w], expected)
  })

  it('moves structures', async () => {
    const start = Array.from({ length: 5 }, (_, i) => ({
      position: d.vec3f(i, 2 * i, 3 * i),
      mass: i + 1,
      velocity: d.vec3f(1, -1, 0.5),
    }))
    const particles = root.createMutable(d.arrayOf(Particle, 5), start)
    const step = root.createUniform(d.f32, 0.5)
    root
      .createGuardedComputePipeline((i) => {
        'use gpu'
        const one = particles.$[i]!
        particles.$[i]!.position = one.position.add(one.velocity.mul(step.$ / one.mass))
      })
      .dispatchThreads(5)
    const moved = await particles.read()
    for (const [i, { position, mass }] of moved.entries()) {
      expect(mass).toBe(i + 1)
      expectNear(
        [position.x, position.y, position.z],
        [i + 0.5 / mass, 2 * i - 0.5 / mass, 3 * i + 0.25 / mass],
      )
    }
  })

  it('counts with atomics', async () => {
    const [x, counts] = [root.createReadonly(floats, b), root.createMutable(d.arrayOf(d.atomic(d.u32), 5))]
    root
      .createGuardedComputePipeline((i) => {
        'use gpu'
        std.atomicAdd(counts.$[d.u32(x.$[i]!)]!, 1)
      })
      .dispatchThreads(length)
    const expected = [0, 0, 0, 0, 0]
    for (const value of b) expected[Math.floor(value)]!++
    expect([...(await counts.read())]).toEqual(expected)
  })

  it('sums in workgroup memory, between barriers', async () => {
    const [x, result] = [root.createReadonly(d.arrayOf(d.f32, 64), values(64)), root.createMutable(d.f32)]
    const shared = tgpu.workgroupVar(d.arrayOf(d.f32, 64))
    const kernel = tgpu.computeFn({ in: { lid: d.builtin.localInvocationId }, workgroupSize: [64] })(
      ({ lid }) => {
        'use gpu'
        shared.$[lid.x] = x.$[lid.x]!
        std.workgroupBarrier()
        for (let half = d.u32(32); half > 0; half = half >> 1) {
          if (lid.x < half) shared.$[lid.x]! += shared.$[lid.x + half]!
          std.workgroupBarrier()
        }
        if (lid.x === 0) result.$ = shared.$[0]!
      },
    )
    root.createComputePipeline({ compute: kernel }).dispatchWorkgroups(1)
    expect(await result.read()).toBeCloseTo(sum(values(64)), 4)
  })

  it('binds buffers by layouts', async () => {
    const layout = tgpu.bindGroupLayout({
      x: { storage: floats, access: 'readonly' },
      factor: { uniform: d.f32 },
      result: { storage: floats, access: 'mutable' },
    })
    const buffers = {
      x: root.createBuffer(floats, a).$usage('storage'),
      factor: root.createBuffer(d.f32, 3).$usage('uniform'),
      result: root.createBuffer(floats).$usage('storage'),
    }
    const group = root.createBindGroup(layout, buffers)
    const pipeline = root.createGuardedComputePipeline((i) => {
      'use gpu'
      layout.$.result[i] = layout.$.x[i]! * layout.$.factor
    })
    pipeline.with(group).dispatchThreads(length)
    expectNear(
      await buffers.result.read(),
      a.map((value) => 3 * value),
    )
    buffers.factor.write(-1)
    pipeline.with(group).dispatchThreads(length)
    expectNear(
      await buffers.result.read(),
      a.map((value) => -value),
    )
  })

  it('takes functions in WGSL', async () => {
    const twice = tgpu.fn([d.f32], d.f32)`(x: f32) -> f32 { return 2.0 * x; }`
    const [x, result] = [root.createReadonly(floats, a), root.createMutable(floats)]
    root
      .createGuardedComputePipeline((i) => {
        'use gpu'
        result.$[i] = twice(x.$[i]!)
      })
      .dispatchThreads(length)
    expectNear(
      await result.read(),
      a.map((value) => 2 * value),
    )
  })

  it('writes parts of a buffer, copies buffers and clears them', async () => {
    const [x, copy] = [
      root.createBuffer(floats, a).$usage('storage'),
      root.createBuffer(floats).$usage('storage'),
    ]
    const doubled = x.as('mutable')
    root
      .createGuardedComputePipeline((i) => {
        'use gpu'
        doubled.$[i]! *= 2
      })
      .dispatchThreads(length)
    copy.copyFrom(x)
    x.clear()
    expectNear(
      await copy.read(),
      a.map((value) => 2 * value),
    )
    expectNear(await x.read(), Array(length).fill(0))
  })
})
