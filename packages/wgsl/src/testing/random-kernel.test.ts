import { expect, it } from 'vitest'
import { isBarrier } from '../collectives.ts'
import { kernelCase, referenceRun, translate } from '../cuda/testing/kernel-cases.ts'
import { lower, parseWgsl } from '../frontend/lower.ts'
import type { ExecutionObserver } from '../reference/index.ts'
import { rootOf } from '../walk.ts'
import { openDawnOracle } from './dawn-oracle.ts'
import { randomCollectives } from './random-collectives.ts'
import { randomIdioms } from './random-idioms.ts'
import { randomKernel } from './random-kernel.ts'
import { randomLongFunctions } from './random-long-functions.ts'
import { randomTeamFunctions } from './random-team-functions.ts'
import { hasMatrices } from './random-types.ts'

const dawn = await openDawnOracle()

it.skipIf(dawn === undefined)('random kernels are valid (needs npm webgpu)', async () => {
  const bad: string[] = []
  const check = async (name: string, source: string, isForDawn: boolean) => {
    const errors = isForDawn ? await dawn!(source) : []
    if (errors.length > 0) bad.push(`${name}: Dawn says ${errors[0]}`)
    try {
      lower(parseWgsl(source))
    } catch (error) {
      bad.push(`${name}: ${(error as Error).message}`)
    }
  }
  for (let seed = 0; seed < 100; seed++) {
    // SwiftShader has no subgroup matrices.
    await check(`random ${seed}`, randomKernel(seed), !hasMatrices(seed))
    await check(`collectives ${seed}`, randomCollectives(seed), true)
  }
  for (let seed = 0; seed < 20; seed++) {
    await check(`idioms ${seed}`, randomIdioms(seed), true)
    await check(`long functions ${seed}`, randomLongFunctions(seed), true)
    await check(`team functions ${seed}`, randomTeamFunctions(seed), true)
  }
  expect(bad).toEqual([])
})

it('many random kernels of long functions have functions that are not inlined', () => {
  const texts = Array.from({ length: 20 }, (_, seed) => {
    const source = randomLongFunctions(seed)
    expect(randomLongFunctions(seed)).toBe(source)
    return translate(kernelCase(`long functions ${seed}`, source), 'clamp').source
  })
  // In the others all functions are inlined, because the kernel is short enough.
  const called = texts.map((text) => text.split('__attribute__((noinline)) ').length - 1).filter((n) => n > 0)
  expect(called.length).toBeGreaterThanOrEqual(8)
  for (const functions of called) expect(functions).toBeGreaterThanOrEqual(3)
})

it('nearly all random kernels of team functions have functions that are not inlined', () => {
  const levels = Array.from({ length: 10 }, (_, seed) => {
    const source = randomTeamFunctions(seed)
    expect(randomTeamFunctions(seed)).toBe(source)
    return translate(kernelCase(`team functions ${seed}`, source), 'clamp').ptxasLevel
  })
  expect(levels.filter((level) => level === 0).length).toBeGreaterThanOrEqual(9)
})

/** The invocations that used an element, and whether one of them stored to it. */
class Use {
  #by: object | undefined
  #isShared = false
  #isStored = false

  /** Whether an access races with earlier ones. */
  races(by: object, isStored: boolean): boolean {
    const isOther = this.#by !== undefined && (this.#isShared || this.#by !== by)
    return isOther && (this.#isStored || isStored)
  }

  add(by: object, isStored: boolean): void {
    this.#isShared ||= this.#by !== undefined && this.#by !== by
    this.#by ??= by
    this.#isStored ||= isStored
  }
}

/**
 * Records each element of workgroup memory to which one invocation stores and which another uses, without a
 * barrier in between.
 */
function raceFinder() {
  const races = new Set<string>()
  const phases = new WeakMap<object, number>()
  /**
   * For each workgroup, by phase and place: the uses of the whole place, and the uses of the whole or a part
   * of it.
   */
  const uses = new WeakMap<object, Map<string, { whole: Use; any: Use }>>()
  const nothing = () => {}
  const observer: ExecutionObserver = {
    reached: nothing,
    value: nothing,
    indexed: nothing,
    left: nothing,
    called(call, invocation) {
      if (isBarrier(call.name)) phases.set(invocation, (phases.get(invocation) ?? 0) + 1)
    },
    touched(place, path, use, invocation) {
      if (place.type.kind === 'atomic') return
      const { workgroup } = invocation as { workgroup: object }
      const root = rootOf(place)
      const name = root.kind === 'variable' ? root.variable.name : ''
      const all = uses.get(workgroup) ?? new Map<string, { whole: Use; any: Use }>()
      uses.set(workgroup, all)
      const isStored = use === 'store' || use === 'load-store'
      for (let n = 0; n <= path.length; n++) {
        const key = `${phases.get(invocation) ?? 0} ${name} ${path.slice(0, n).join()}`
        const here = all.get(key) ?? { whole: new Use(), any: new Use() }
        all.set(key, here)
        const isWhole = n === path.length
        if ((isWhole ? here.any : here.whole).races(invocation, isStored))
          races.add(`${name}[${path.join('][')}]`)
        here.any.add(invocation, isStored)
        if (isWhole) here.whole.add(invocation, isStored)
      }
    },
  }
  return { observer, races }
}

it('random kernels have no data races in workgroup memory', () => {
  const bad: string[] = []
  const check = (name: string, source: string) => {
    const { observer, races } = raceFinder()
    referenceRun(kernelCase(name, source), observer)
    for (const race of races) bad.push(`${name}: ${race}`)
  }
  for (let seed = 0; seed < 20; seed++) {
    check(`random ${seed}`, randomKernel(seed))
    check(`collectives ${seed}`, randomCollectives(seed))
    check(`idioms ${seed}`, randomIdioms(seed))
  }
  for (let seed = 0; seed < 5; seed++) check(`team functions ${seed}`, randomTeamFunctions(seed, 1))
  expect(bad).toEqual([])
})

it('a race is found', () => {
  const racing = (index: string, barrier: string) => {
    const { observer, races } = raceFinder()
    const source = `// run: workgroups=1,1,1
var<workgroup> t: array<vec2u, 4>;
@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) { t[i].x = 1u; ${barrier} let v = t[${index}]; if v.y == 9u { return; } }`
    referenceRun(kernelCase('race', source), observer)
    return [...races]
  }
  expect(racing('i', '')).toEqual([])
  expect(racing('3u - i', 'workgroupBarrier();')).toEqual([])
  expect(racing('3u - i', '')).not.toEqual([])
})
