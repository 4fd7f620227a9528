import { type Analyses, analyse } from '../analysis/analyses.ts'
import type {
  Evaluated,
  Expression,
  For,
  Index,
  IndexPlace,
  IrFunction,
  IrModule,
  Place,
  Statement,
} from '../ir.ts'
import { typeName } from '../types.ts'

type Facts = Pick<Analyses, 'ranges' | 'counters'>

/**
 * Prints IR as text that resembles WGSL, with loads written `load(place)` and every conversion visible; for
 * tests and debugging. With `facts`, it shows the results of the analyses: the interval of each let and
 * index, whether the index is in bounds, and the trip counts of loops.
 */
export function printIr(ir: IrModule, options: { readonly facts?: boolean } = {}): string {
  const facts = options.facts ? analyse(ir) : undefined
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
    lines.push(printFunction(f, f === ir.entryPoint ? ir.workgroupSize : undefined, facts))
  return `${lines.join('\n')}\n`
}

function named({ name, id }: { name: string; id: number }): string {
  return `${name}_${id}`
}

function printFunction(
  f: IrFunction,
  workgroupSize: readonly number[] | undefined,
  facts: Facts | undefined,
): string {
  const parameters = f.parameters.map(
    (p) => `${p.builtin ? `@${p.builtin} ` : ''}${named(p)}: ${typeName(p.type)}`,
  )
  const entry = workgroupSize ? `@workgroup_size(${workgroupSize.join(', ')}) ` : ''
  const result = f.returnType ? ` -> ${typeName(f.returnType)}` : ''
  return `${entry}fn ${named(f)}(${parameters.join(', ')})${result} ${printBlock(f.body.statements, '', facts)}`
}

function printBlock(statements: readonly Statement[], indent: string, facts: Facts | undefined): string {
  if (statements.length === 0) return '{ }'
  const inner = `${indent}  `
  return `{\n${statements.map((s) => `${inner}${printStatement(s, inner, facts)}\n`).join('')}${indent}}`
}

/** Prints one statement; `indent` is the prefix of all lines after the first. */
function printStatement(s: Statement, indent = '', facts?: Facts): string {
  switch (s.kind) {
    case 'block':
      return printBlock(s.statements, indent, facts)
    case 'let':
      return `let ${named(s.variable)}: ${typeName(s.variable.type)}${interval(s.value, facts)} = ${printExpression(s.value, facts)}`
    case 'var':
      return `var ${named(s.variable)}: ${typeName(s.variable.type)}${s.initial ? ` = ${printExpression(s.initial, facts)}` : ''}`
    case 'assign':
      return `${printPlace(s.target, facts)} = ${printExpression(s.value, facts)}`
    case 'compound-assign':
      return `${printPlace(s.target, facts)} ${s.operator}= ${printExpression(s.value, facts)}`
    case 'evaluate':
      return printExpression(s.value, facts)
    case 'if': {
      const otherwise = s.otherwise ? ` else ${printBlock(s.otherwise.statements, indent, facts)}` : ''
      return `if ${printExpression(s.condition, facts)} ${printBlock(s.then.statements, indent, facts)}${otherwise}`
    }
    case 'switch': {
      const inner = `${indent}  `
      const clauses = s.clauses.map((c) => {
        const selectors = [...c.selectors.map(String), ...(c.isDefault ? ['default'] : [])]
        return `${inner}case ${selectors.join(', ')} ${printBlock(c.body.statements, inner, facts)}\n`
      })
      return `switch ${printExpression(s.selector, facts)} {\n${clauses.join('')}${indent}}`
    }
    case 'loop': {
      const inner = `${indent}  `
      const breakIf = s.breakIf ? [`${inner}break if ${printExpression(s.breakIf, facts)}`] : []
      const continuing = s.continuing
        ? [`${inner}continuing ${printBlock(s.continuing.statements, inner, facts)}`]
        : []
      const body = s.body.statements.map((b) => `${inner}${printStatement(b, inner, facts)}`)
      return `loop {\n${[...body, ...continuing, ...breakIf].join('\n')}\n${indent}}`
    }
    case 'for': {
      const initial = s.initial ? printStatement(s.initial, indent, facts) : ''
      const condition = s.condition ? printExpression(s.condition, facts) : ''
      const update = s.update ? printStatement(s.update, indent, facts) : ''
      if (s.keyword === 'while') return `while ${condition} ${printBlock(s.body.statements, indent, facts)}`
      return `for (${initial}; ${condition}; ${update})${trips(s, facts)} ${printBlock(s.body.statements, indent, facts)}`
    }
    case 'return':
      return s.value ? `return ${printExpression(s.value, facts)}` : 'return'
    default:
      return s.kind
  }
}

/** Prints an expression. */
function printExpression(e: Evaluated, facts?: Facts): string {
  const list = (args: readonly Expression[]) => args.map((a) => printExpression(a, facts)).join(', ')
  switch (e.kind) {
    case 'literal':
      return `${printNumber(e.value)}${{ bool: '', i32: 'i', u32: 'u', f32: 'f', f16: 'h' }[e.type.scalar]}`
    case 'zero':
      return `${typeName(e.type)}()`
    case 'splat':
      return `${typeName(e.type)}(${printExpression(e.value, facts)})`
    case 'construct':
      return `${typeName(e.type)}(${list(e.args)})`
    case 'convert':
      return `convert<${typeName(e.type)}>(${printExpression(e.value, facts)})`
    case 'bitcast':
      return `bitcast<${typeName(e.type)}>(${printExpression(e.value, facts)})`
    case 'value':
      return named(e.value)
    case 'constant':
      return named(e.constant)
    case 'load':
      return `load(${printPlace(e.place, facts)})`
    case 'address-of':
      return `&${printPlace(e.place, facts)}`
    case 'member':
      return `${printExpression(e.base, facts)}.${e.member.name}`
    case 'index':
      return `${printExpression(e.base, facts)}[${printExpression(e.index, facts)}${bounds(e, facts)}]`
    case 'swizzle':
      return `${printExpression(e.base, facts)}.${swizzle(e.components)}`
    case 'unary':
      return `${e.operator}${printExpression(e.value, facts)}`
    case 'binary':
    case 'logical':
      return `(${printExpression(e.left, facts)} ${e.operator} ${printExpression(e.right, facts)})`
    case 'builtin-call':
      return `${e.name}(${list(e.args)})`
    case 'call':
      return `${named(e.function)}(${list(e.args)})`
  }
}

/** Prints a place. */
function printPlace(p: Place, facts?: Facts): string {
  switch (p.kind) {
    case 'variable':
      return named(p.variable)
    case 'deref':
      return `(*${named(p.pointer)})`
    case 'member-place':
      return `${printPlace(p.base, facts)}.${p.member.name}`
    case 'index-place':
      return `${printPlace(p.base, facts)}[${printExpression(p.index, facts)}${bounds(p, facts)}]`
    case 'component-place':
      return `${printPlace(p.base, facts)}.${swizzle([p.component])}`
    case 'view-place': {
      const size = p.size === undefined ? '' : `, ${printExpression(p.size, facts)}`
      return `view<${typeName(p.type)}>(${printPlace(p.base, facts)}, ${printExpression(p.offset, facts)}${size})`
    }
  }
}

function swizzle(components: readonly number[]): string {
  return components.map((c) => 'xyzw'[c]).join('')
}

function printNumber(value: number | boolean): string {
  return Object.is(value, -0) ? '-0' : String(value)
}

/** ` in 0..63`: the values of an integer that is not a literal. */
function interval(e: Expression, facts: Facts | undefined): string {
  const range = e.kind === 'literal' ? undefined : facts?.ranges.interval(e)
  return range === undefined ? '' : ` in ${range.low}..${range.high}`
}

/** The values of an index, and whether it needs a guard. */
function bounds(access: IndexPlace | Index, facts: Facts | undefined): string {
  if (facts === undefined || access.index.kind === 'literal') return ''
  return `${interval(access.index, facts)}${facts.ranges.isInside(access) ? ', inside' : ''}`
}

function trips(loop: For, facts: Facts | undefined): string {
  const counted = facts?.counters.of(loop)?.trips
  return counted === undefined ? '' : ` ${counted.isExact ? '' : 'at most '}${counted.most} times`
}
