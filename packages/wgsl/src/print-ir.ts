import type { Expression, IrFunction, IrModule, Place, Statement } from './ir.ts'
import { typeName } from './types.ts'

/** Prints IR as text that resembles WGSL, with loads written `load(place)` and every conversion visible; for tests and debugging. */
export function printIr(ir: IrModule): string {
  const lines: string[] = []
  for (const s of ir.structs) {
    const members = s.members.map((m) => `${m.name}: ${typeName(m.type)} @${m.offset}`)
    lines.push(`struct ${s.name} { ${members.join(', ')} } size ${s.size} align ${s.align}`)
  }
  for (const o of ir.overrides) lines.push(`override ${o.name}: ${typeName(o.type)} = ${String(o.value)}`)
  for (const c of ir.constants)
    lines.push(`const ${named(c)}: ${typeName(c.type)} = ${printExpression(c.value)}`)
  for (const v of ir.variables) {
    const place = v.binding ? `@group(${v.binding.group}) @binding(${v.binding.binding}) ` : ''
    const initial = v.initial ? ` = ${printExpression(v.initial)}` : ''
    lines.push(`${place}var<${v.space}, ${v.access}> ${named(v)}: ${typeName(v.type)}${initial}`)
  }
  for (const f of ir.functions)
    lines.push(printFunction(f, f === ir.entryPoint ? ir.workgroupSize : undefined))
  return `${lines.join('\n')}\n`
}

function named({ name, id }: { name: string; id: number }): string {
  return `${name}_${id}`
}

function printFunction(f: IrFunction, workgroupSize: readonly number[] | undefined): string {
  const parameters = f.parameters.map(
    (p) => `${p.builtin ? `@${p.builtin} ` : ''}${named(p)}: ${typeName(p.type)}`,
  )
  const entry = workgroupSize ? `@workgroup_size(${workgroupSize.join(', ')}) ` : ''
  const result = f.returnType ? ` -> ${typeName(f.returnType)}` : ''
  return `${entry}fn ${named(f)}(${parameters.join(', ')})${result} ${printBlock(f.body.statements, '')}`
}

function printBlock(statements: readonly Statement[], indent: string): string {
  if (statements.length === 0) return '{ }'
  const inner = `${indent}  `
  return `{\n${statements.map((s) => `${inner}${printStatement(s, inner)}\n`).join('')}${indent}}`
}

/** Prints one statement; `indent` is what its further lines start with. */
export function printStatement(s: Statement, indent = ''): string {
  switch (s.kind) {
    case 'block':
      return printBlock(s.statements, indent)
    case 'let':
      return `let ${named(s.variable)}: ${typeName(s.variable.type)} = ${printExpression(s.value)}`
    case 'var':
      return `var ${named(s.variable)}: ${typeName(s.variable.type)}${s.initial ? ` = ${printExpression(s.initial)}` : ''}`
    case 'assign':
      return `${printPlace(s.target)} = ${printExpression(s.value)}`
    case 'compound-assign':
      return `${printPlace(s.target)} ${s.operator}= ${printExpression(s.value)}`
    case 'swizzle-assign':
      return `${printPlace(s.target)}.${swizzle(s.components)} ${s.operator ?? ''}= ${printExpression(s.value)}`
    case 'evaluate':
      return printExpression(s.value)
    case 'if': {
      const otherwise = s.otherwise ? ` else ${printBlock(s.otherwise.statements, indent)}` : ''
      return `if ${printExpression(s.condition)} ${printBlock(s.then.statements, indent)}${otherwise}`
    }
    case 'switch': {
      const inner = `${indent}  `
      const clauses = s.clauses.map((c) => {
        const selectors = [...c.selectors.map(String), ...(c.isDefault ? ['default'] : [])]
        return `${inner}case ${selectors.join(', ')} ${printBlock(c.body.statements, inner)}\n`
      })
      return `switch ${printExpression(s.selector)} {\n${clauses.join('')}${indent}}`
    }
    case 'loop': {
      const inner = `${indent}  `
      const breakIf = s.breakIf ? [`${inner}break if ${printExpression(s.breakIf)}`] : []
      const continuing = s.continuing
        ? [`${inner}continuing ${printBlock(s.continuing.statements, inner)}`]
        : []
      const body = s.body.statements.map((b) => `${inner}${printStatement(b, inner)}`)
      return `loop {\n${[...body, ...continuing, ...breakIf].join('\n')}\n${indent}}`
    }
    case 'for': {
      const initial = s.initial ? printStatement(s.initial, indent) : ''
      const condition = s.condition ? printExpression(s.condition) : ''
      const update = s.update ? printStatement(s.update, indent) : ''
      return `for (${initial}; ${condition}; ${update}) ${printBlock(s.body.statements, indent)}`
    }
    case 'while':
      return `while ${printExpression(s.condition)} ${printBlock(s.body.statements, indent)}`
    case 'return':
      return s.value ? `return ${printExpression(s.value)}` : 'return'
    default:
      return s.kind
  }
}

/** Prints an expression. */
export function printExpression(e: Expression): string {
  const list = (args: readonly Expression[]) => args.map(printExpression).join(', ')
  switch (e.kind) {
    case 'literal':
      return `${printNumber(e.value)}${{ bool: '', i32: 'i', u32: 'u', f32: 'f', f16: 'h' }[e.type.scalar]}`
    case 'zero':
      return `${typeName(e.type)}()`
    case 'splat':
      return `${typeName(e.type)}(${printExpression(e.value)})`
    case 'construct':
      return `${typeName(e.type)}(${list(e.args)})`
    case 'convert':
      return `convert<${typeName(e.type)}>(${printExpression(e.value)})`
    case 'bitcast':
      return `bitcast<${typeName(e.type)}>(${printExpression(e.value)})`
    case 'value':
      return named(e.value)
    case 'constant':
      return named(e.constant)
    case 'load':
      return `load(${printPlace(e.place)})`
    case 'address-of':
      return `&${printPlace(e.place)}`
    case 'member':
      return `${printExpression(e.base)}.${e.member.name}`
    case 'index':
      return `${printExpression(e.base)}[${printExpression(e.index)}]`
    case 'swizzle':
      return `${printExpression(e.base)}.${swizzle(e.components)}`
    case 'unary':
      return `${e.operator}${printExpression(e.value)}`
    case 'binary':
    case 'logical':
      return `(${printExpression(e.left)} ${e.operator} ${printExpression(e.right)})`
    case 'builtin-call':
      return `${e.name}(${list(e.args)})`
    case 'call':
      return `${named(e.function)}(${list(e.args)})`
  }
}

/** Prints a place. */
export function printPlace(p: Place): string {
  switch (p.kind) {
    case 'variable':
      return named(p.variable)
    case 'deref':
      return `(*${named(p.pointer)})`
    case 'member-place':
      return `${printPlace(p.base)}.${p.member.name}`
    case 'index-place':
      return `${printPlace(p.base)}[${printExpression(p.index)}]`
    case 'component-place':
      return `${printPlace(p.base)}.${swizzle([p.component])}`
    case 'view-place': {
      const size = p.size === undefined ? '' : `, ${printExpression(p.size)}`
      return `view<${typeName(p.type)}>(${printPlace(p.base)}, ${printExpression(p.offset)}${size})`
    }
  }
}

function swizzle(components: readonly number[]): string {
  return components.map((c) => 'xyzw'[c]).join('')
}

function printNumber(value: number | boolean): string {
  return Object.is(value, -0) ? '-0' : String(value)
}
