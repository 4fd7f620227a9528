import { describe, expect, it } from 'vitest'
import {
  type Expression,
  lower,
  parseWgsl,
  reflect,
  type Statement,
  type Type,
  WgslError,
  walk,
} from '../index.ts'
import { corpus, corpusLines } from '../testing/corpus.ts'
import { openDawnOracle } from '../testing/dawn-oracle.ts'
import { fillBuffer, parseKernelTest } from '../testing/index.ts'
import { randomKernel } from '../testing/random-kernel.ts'

const kernels = corpus('accepted', 'generated')
const rejected = corpus('rejected')
const dawn = await openDawnOracle()

/** Checks that a type contains no abstract type; the IR must have none. */
function assertConcrete(type: Type | undefined): void {
  if (type?.kind === 'array') assertConcrete(type.element)
  else if (type?.kind === 'pointer') assertConcrete(type.store)
  else if (type?.kind === 'struct') for (const member of type.members) assertConcrete(member.type)
  else if (type !== undefined && type.kind !== 'buffer' && type.kind !== 'subgroup-matrix')
    expect(['bool', 'i32', 'u32', 'f32', 'f16']).toContain(type.scalar)
}

function assertExpression(e: Expression): undefined {
  assertConcrete(e.type)
  expect(e.loc.line).toBeGreaterThan(0)
  if (e.kind === 'binary' && !['*', '<<', '>>'].includes(e.operator)) {
    const [l, r] = [e.left.type, e.right.type]
    if (l.kind === r.kind) expect(l).toBe(r)
  }
  if (e.kind === 'load') {
    expect(e.type).toBe(e.place.type)
    expect(e.type.kind).not.toBe('atomic')
  }
  if (e.kind === 'call') expect(e.args.map((a) => a.type)).toEqual(e.function.parameters.map((p) => p.type))
}

function assertStatement(s: Statement): undefined {
  if (s.kind === 'let') {
    expect(s.variable.type).toBe(s.value.type)
    expect(s.variable.type.kind).not.toBe('pointer')
  }
  if (s.kind === 'var' && s.initial) expect(s.variable.type).toBe(s.initial.type)
  if (s.kind === 'assign') expect(s.target.type).toBe(s.value.type)
}

describe('the corpus of kernels', () => {
  it.each(kernels)('$name lowers, and its header fits its bindings', ({ name, source }) => {
    const test = parseKernelTest(source)
    const ir = lower(parseWgsl(source, { label: name }), {
      constants: test.constants,
      entryPoint: test.entryPoint,
    })
    walk(ir, { expression: assertExpression, statement: assertStatement })
    const { bindings } = reflect(ir)
    expect(bindings.map((b) => b.name).sort()).toEqual(test.buffers.map((b) => b.name).sort())
    for (const binding of bindings) {
      const buffer = test.buffers.find((b) => b.name === binding.name)!
      expect(fillBuffer(buffer).byteLength, binding.name).toBeGreaterThanOrEqual(binding.minByteLength)
    }
  })

  it.skipIf(dawn === undefined)('is accepted by Dawn (needs npm webgpu)', async () => {
    const refused: string[] = []
    for (const { name, source } of kernels)
      for (const error of await dawn!(source)) refused.push(`${name}:${error}`)
    expect(refused).toEqual([])
  })
})

describe('random kernels', () => {
  it.skipIf(dawn === undefined)('lower, and are accepted by Dawn (needs npm webgpu)', async () => {
    for (let seed = 0; seed < 60; seed++) {
      const source = randomKernel(seed)
      expect(await dawn!(source), `seed ${seed}`).toEqual([])
      walk(lower(parseWgsl(source)), { expression: assertExpression, statement: assertStatement })
    }
  })
})

describe('rejected sources', () => {
  it.each(rejected)('$name is rejected', ({ name, source }) => {
    const words = /^\/\/ error: (.*)$/m.exec(source)![1]!
    const compile = () => lower(parseWgsl(source, { label: name }), { entryPoint: 'main' })
    expect(compile).toThrow(WgslError)
    expect(compile).toThrow(words)
  })

  it.skipIf(dawn === undefined)('are rejected by Dawn too, on the same line (needs npm webgpu)', async () => {
    const wrong: string[] = []
    for (const { name, source } of rejected) {
      const [first] = await dawn!(source)
      const line = Number(first?.split(':')[0])
      try {
        lower(parseWgsl(source), { entryPoint: 'main' })
      } catch (error) {
        if ((error as WgslError).line !== line)
          wrong.push(`${name}: ${(error as WgslError).line}, Dawn: ${first}`)
      }
      if (first === undefined) wrong.push(`${name} is accepted by Dawn`)
    }
    expect(wrong).toEqual([])
  })
})

describe('single statements and short modules', () => {
  const cases = corpusLines('judgements.txt')
  const sourceOf = (text: string) =>
    text.includes('@compute')
      ? text
      : `enable f16; enable subgroups;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) {
${text.replaceAll('⏎', '\n')}
}`

  it.skipIf(dawn === undefined)('get the same verdicts from Dawn (needs npm webgpu)', async () => {
    const different: string[] = []
    for (const text of cases) {
      const source = sourceOf(text)
      const [theirs] = await dawn!(source, 'main')
      let ours: string | undefined
      try {
        lower(parseWgsl(source), { entryPoint: 'main' })
      } catch (error) {
        expect(error, text).toBeInstanceOf(WgslError)
        ours = (error as WgslError).text
      }
      if ((theirs === undefined) !== (ours === undefined))
        different.push(`${text}\n  Dawn: ${theirs}\n  ours: ${ours}`)
    }
    expect(different).toEqual([])
  })
})
