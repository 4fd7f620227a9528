import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { type BuiltinFunction, builtinFacts, builtinFunctions } from '../builtin-functions.ts'
import { lower, parseWgsl } from '../frontend/lower.ts'
import { resolveOverload } from '../frontend/overloads.ts'
import type { Type } from '../ir.ts'
import { cpuText } from '../testing/cpu-text.ts'
import { matrixType, scalarType, typeName, vectorType } from '../types.ts'
import { walk } from '../walk.ts'
import { WgslError } from '../wgsl-error.ts'
import { emitCuda } from './emit-cuda.ts'
import { hasProgram } from './testing/kernel-cases.ts'

const scalars = (['bool', 'i32', 'u32', 'f32', 'f16'] as const).map(scalarType)
const types: readonly Type[] = [
  ...scalars,
  ...scalars.map(({ scalar }) => vectorType(3, scalar)),
  ...[vectorType(4, 'f32'), vectorType(4, 'i32'), vectorType(4, 'u32'), vectorType(2, 'f32')],
  ...[matrixType(3, 3, 'f32'), matrixType(3, 3, 'f16'), matrixType(2, 3, 'f32')],
]

const variable = (type: Type) => `v_${types.indexOf(type)}`
const head = `enable f16; enable subgroups; diagnostic(off, subgroup_uniformity);
${types.map((t) => `var<private> ${variable(t)}: ${typeName(t)};`).join('\n')}`

function kernel(statements: string, declarations = '') {
  return lower(
    parseWgsl(`${head}\n${declarations}\n@compute @workgroup_size(32) fn main() { ${statements} }`),
  )
}

/** The type of an expression; undefined if the expression is invalid. */
function typeOf(expression: string): Type | undefined {
  try {
    let found: Type | undefined
    walk(kernel(`let x = ${expression};`), {
      statement(s) {
        if (s.kind === 'let') found = s.variable.type
      },
    })
    return found
  } catch (error) {
    if (error instanceof WgslError) return undefined
    throw error
  }
}

/** Every operator between variables of every two types, by the type of the result. */
const forms = new Map<Type, string[]>(types.map((t) => [t, [`(${variable(t)})`]]))
const infix = [
  '+',
  '-',
  '*',
  '/',
  '%',
  '&',
  '|',
  '^',
  '<<',
  '>>',
  '==',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
  '&&',
  '||',
]
for (const left of types) {
  for (const operator of ['-', '!', '~']) note(`${operator}${variable(left)}`)
  for (const right of types) for (const o of infix) note(`(${variable(left)} ${o} ${variable(right)})`)
}

function note(expression: string): void {
  const type = typeOf(expression)
  if (type !== undefined) forms.get(type)?.push(expression)
}

/** Calls of a built-in function: each operator as each argument, while the others are variables. */
function calls(name: BuiltinFunction): string[] {
  const { lane } = builtinFacts[name]
  const found: string[] = []
  const visit = (args: readonly Type[]): void => {
    const overload = resolveOverload(name, args, true)
    const plain = args.map((t, i) => (lane?.isConstant && i === 1 ? '1' : variable(t)))
    if (overload?.parameters.every((type, i) => type === args[i]))
      for (const [i, type] of args.entries())
        for (const form of lane?.isConstant && i === 1 ? ['1'] : forms.get(type)!)
          found.push(`${name}(${plain.with(i, form).join(', ')})`)
    if (args.length < 3 || (args.length === 3 && name === 'insertBits'))
      for (const type of types) visit([...args, type])
  }
  visit([])
  return found
}

/** All other uses of a value of a type. */
function otherUses(type: Type): { statements: string[]; declarations: string } {
  const name = typeName(type)
  const id = types.indexOf(type)
  const statements = forms
    .get(type)!
    .flatMap((form) => [
      `{ let x = ${form}; var y: ${name} = ${form}; y = ${form}; }`,
      `_ = array(${form}, ${variable(type)}); _ = array(${variable(type)}, ${form}); _ = S${id}(${form}); _ = take_${id}(${form});`,
      ...types
        .filter((to) => to !== type && typeOf(`${typeName(to)}(${form})`) === to)
        .map((to) => `_ = ${typeName(to)}(${form});`),
      ...types
        .filter((to) => to !== type && typeOf(`bitcast<${typeName(to)}>(${form})`) === to)
        .map((to) => `_ = bitcast<${typeName(to)}>(${form});`),
      ...(type.kind === 'scalar'
        ? [`_ = vec2(${form}, ${variable(type)}); { var v = vec3<${name}>(); v[v_2] = ${form}; }`]
        : []),
      ...(name === 'bool' ? [`if ${form} { } while ${form} { break; } _ = select(1, v_1, ${form});`] : []),
      ...(name === 'i32' || name === 'u32'
        ? [`switch ${form} { default { } } { var a: array<${name}, 4>; a[${form}] = ${form}; }`]
        : []),
      ...(name === 'i32' || name === 'u32' ? atomics(name, form) : []),
    ])
  const declarations = `struct S${id} { x: ${name} } fn take_${id}(x: ${name}) -> ${name} { return x; }
    ${forms
      .get(type)!
      .map((form, i) => `fn give_${id}_${i}() -> ${name} { return ${form}; }`)
      .join('\n')}`
  for (const i of forms.get(type)!.keys()) statements.push(`_ = give_${id}_${i}();`)
  return { statements, declarations }
}

function atomics(name: 'i32' | 'u32', form: string): string[] {
  return builtinFunctions
    .filter((f) => builtinFacts[f].isAtomic && !/^atomicStore(Min|Max)$/.test(f) && f !== 'atomicLoad')
    .map((f) => `${f}(&atomic_${name}, ${f.startsWith('atomicCompare') ? `${form}, ` : ''}${form});`)
}

it.skipIf(!hasProgram('g++'))(
  'every operator is C++ as every argument of every built-in function, and wherever else a value may be (needs g++)',
  { timeout: 600_000 },
  () => {
    const workgroup = 'var<workgroup> atomic_i32: atomic<i32>; var<workgroup> atomic_u32: atomic<u32>;'
    const uses = types.map(otherUses)
    const modules = [
      ...builtinFunctions.map((name) =>
        kernel(
          calls(name)
            .map((c) => `_ = ${c};`)
            .join('\n'),
        ),
      ),
      ...uses.map(({ statements, declarations }) =>
        kernel(statements.join('\n'), `${workgroup}\n${declarations}`),
      ),
    ]
    const kernels = modules.map((module) => emitCuda(module, { bounds: 'clamp', lineDirectives: false }))
    const folder = mkdtempSync(join(tmpdir(), 'tandem-operators-'))
    try {
      const file = join(folder, 'operators.cpp')
      const header = fileURLToPath(new URL('../../native/tandem_cpu.hpp', import.meta.url))
      writeFileSync(file, `#include "${header}"\n#define TANDEM_SHARED_SECTION "shared"\n${cpuText(kernels)}`)
      const flags = ['-std=c++17', '-fsyntax-only', '-w', '-fmax-errors=20']
      const { status, stderr } = spawnSync('g++', [...flags, file], { encoding: 'utf8', maxBuffer: 64 << 20 })
      expect([status, stderr.slice(0, 4000)]).toEqual([0, ''])
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
)
