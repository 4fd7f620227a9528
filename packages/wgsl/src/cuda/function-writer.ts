import type { Analyses } from '../analysis/analyses.ts'
import type {
  Block,
  BuiltinCall,
  Expression,
  IrFunction,
  IrModule,
  Location,
  ModuleVariable,
  Statement,
  Type,
} from '../ir.ts'
import type { AsyncCopies } from './async-copies.ts'
import { type CxxExpression, simple } from './cxx-expression.ts'
import type { CudaBounds } from './kernel.ts'
import type { Looks } from './loop-looks.ts'
import type { Names } from './names.ts'
import { isComposite, typeText, zeroText } from './type-text.ts'
import type { WorkgroupText } from './workgroup-rounds.ts'

/** The module, and the facts about it that are needed to write its functions. */
export interface ModuleContext extends Analyses {
  /**
   * The writers of expressions and of statements. Places, calls and loops contain both, so their writers call
   * these functions through the `FunctionWriter`.
   */
  readonly valueText: (writer: FunctionWriter, e: Expression) => CxxExpression
  /** Like `valueText`, for the initial value of a variable. */
  readonly initialText: (writer: FunctionWriter, e: Expression) => CxxExpression
  readonly writeStatement: (writer: FunctionWriter, s: Statement) => void
  readonly module: IrModule
  readonly bounds: CudaBounds
  readonly names: Names
  readonly unrolledLoops: ReadonlyMap<Statement, number>
  /** Conditions whose computation is hidden from the compiler. */
  readonly exitConditions: ReadonlySet<Expression>
  /**
   * Subgroup operations in divergent control flow; all invocations of a subgroup reach the other operations
   * together.
   */
  readonly divergentCalls: ReadonlySet<BuiltinCall>
  /** Workgroup variables that are zeroed at the start. */
  readonly zeroed: ReadonlySet<ModuleVariable>
  /** Uniform variables that the kernel copies into registers, with the chunks used. */
  readonly uniformCopies: ReadonlyMap<ModuleVariable, number>
  readonly asyncCopies: AsyncCopies
  /** Swizzled workgroup arrays, with the number of elements in a row. */
  readonly swizzles: ReadonlyMap<ModuleVariable, number>
  /** The names of the workgroup id and the number of workgroups in the text. */
  readonly workgroup: WorkgroupText
  /** Where loops look at the stop word; none in a kernel that is not stoppable. */
  readonly looks: Looks
  readonly features: KernelFeatures
  /** The needs of each function that is already written. */
  readonly needs: Map<IrFunction, FunctionNeeds>
  /** Byte offsets of workgroup variables in dynamic memory; undefined when they are declared statically. */
  readonly dynamicOffsets: ReadonlyMap<ModuleVariable, number> | undefined
  /** The functions that are inlined; the others never are. */
  readonly inlined: ReadonlySet<IrFunction>
  /** Whether there are others. */
  readonly hasCalls: boolean
  /** Ids for values that the emitter creates; negative, so that they differ from all ids of the module. */
  nextTemporaryId: number
  /** The number of the next subgroup operation in divergent control flow. */
  nextSite: number
  /** The number of the next function, which is part of its types in memory. */
  nextWriter: number
}

/** The features that the text written so far uses, recorded where they are written. */
export interface KernelFeatures {
  subgroups: boolean
  subgroupMatrices: boolean
  packedDot: boolean
  /** Threads of a block meet at barriers. */
  barriers: boolean
}

/** Module variables that a function or its callees use; the kernel passes them down. */
export interface FunctionNeeds {
  readonly variables: Set<ModuleVariable>
  /** Runtime-sized storage whose number of elements is used. */
  readonly lengths: Set<ModuleVariable>
  /** Whether it uses the mask of existing lanes, if the block size is not a multiple of the subgroup size. */
  usesLanes: boolean
  /** Whether it looks at the stop word. */
  usesStopWord: boolean
}

/** A line of output and the WGSL line it comes from. */
export interface Line {
  readonly text: string
  readonly line: number | undefined
  /** Whether the line closes a block. */
  readonly closes?: boolean
  /** The C++ expression or declaration without indentation and semicolon, if the line consists of one. */
  readonly simple?: string
}

/** A loop around the statement being written: how `continue` leaves its body. */
export interface LoopScope {
  /** The label of the continuing part; undefined for C++'s own `continue`. */
  readonly label: string | undefined
}

/** An operand with its own way of being written. */
export interface Operand {
  readonly expression: Expression
  readonly text: () => CxxExpression
}

/**
 * Collects the statements of one function. Writing an expression may add statements that must run before it.
 */
export class FunctionWriter {
  readonly context: ModuleContext
  readonly needs: FunctionNeeds = {
    variables: new Set(),
    lengths: new Set(),
    usesLanes: false,
    usesStopWord: false,
  }
  readonly loopScopes: LoopScope[] = []
  /** Variables declared ahead of their statement, because a `continuing` part needs them. */
  readonly hoisted = new Set<number>()
  lines: Line[] = []
  depth = 1
  /** Whether the function is called, not inlined. */
  readonly isCalled: boolean
  readonly #number: number
  #line: number | undefined
  #temporaries = 0
  #labels = 0

  constructor(context: ModuleContext, isCalled = false) {
    this.context = context
    this.isCalled = isCalled
    this.#number = context.nextWriter++
  }

  /** An expression as C++. */
  value(e: Expression): CxxExpression {
    return this.context.valueText(this, e)
  }

  /** The initial value of a variable. */
  initial(type: Type, e: Expression | undefined): string {
    return e === undefined ? zeroText(type, this.context.names) : this.context.initialText(this, e).text
  }

  /** Writes a statement. */
  statement(s: Statement): void {
    this.at(s.loc)
    this.context.writeStatement(this, s)
  }

  /** Writes the statements of a block, without braces. */
  statements(block: Block): void {
    for (const s of block.statements) this.statement(s)
  }

  /** Writes a block in braces after `head`. */
  braced(head: string, block: Block): void {
    this.line(`${head} {`)
    this.indented(() => this.statements(block))
    this.close()
  }

  /**
   * Operands in WGSL's order: one whose value C++ might evaluate after it has changed goes into a temporary.
   */
  values(expressions: readonly Expression[], write = this.context.valueText): CxxExpression[] {
    return this.ordered(expressions.map((e) => ({ expression: e, text: () => write(this, e) })))
  }

  /** Like `values`, for operands with their own way of being written. */
  ordered(operands: readonly Operand[]): CxxExpression[] {
    const { effects } = this.context
    const last = operands.findLastIndex((o) => effects.writes(o.expression))
    const restIsFixed = operands.slice(last + 1).every((o) => !effects.reads(o.expression))
    return operands.map(({ expression, text }, i) => {
      const written = text()
      if (i > last || isFixed(expression) || expression.kind === 'address-of') return written
      const quiet = !effects.reads(expression) && !effects.writes(expression)
      if (quiet || (i === last && restIsFixed)) return written
      return simple(this.temporary(expression.type, written.text))
    })
  }

  /** The WGSL position of the lines that follow. */
  at(loc: Location): void {
    this.#line = loc.line
  }

  line(text: string): void {
    this.lines.push({ text: '  '.repeat(this.depth) + text, line: this.#line })
  }

  /** Writes a statement that is one C++ expression or declaration. */
  simple(text: string): void {
    this.lines.push({ text: `${'  '.repeat(this.depth)}${text};`, line: this.#line, simple: text })
  }

  /** Writes a line that closes a block. */
  close(text = '}'): void {
    this.lines.push({ text: '  '.repeat(this.depth) + text, line: this.#line, closes: true })
  }

  indented(write: () => void): void {
    this.depth++
    write()
    this.depth--
  }

  type(type: Type): string {
    return typeText(type, this.context.names)
  }

  /**
   * A value in memory whose C++ type no other function has. nvcc 13.0 (its pass "Reuses local memory") puts two
   * variables of one type in one place if their uses do not overlap, but keeps the marks of both that say when
   * the memory is in use. If the call of one variable's function, which is inlined, is nested in the life of the
   * other, the memory counts as free from the end of the inner one, and a third variable gets it as well. The
   * type has a word before the value, which is never set, because LLVM replaces a structure of one value by
   * the value.
   */
  own(type: Type, text: string): string {
    if (!this.#isOwn(type)) return text
    const value = type.kind === 'scalar' ? `${this.type(type)}(${text})` : text
    return `${this.context.names.prelude('local')}<${this.#number}, ${this.type(type)}>{{}, ${value}}.value`
  }

  /** Scalars and vectors, which are not indexed in memory, are in registers unless functions get their address. */
  #isOwn(type: Type): boolean {
    return isComposite(type) || this.context.hasCalls
  }

  /** The declaration of a variable, without value if there is no `text`. */
  declaration(type: Type, name: string, text?: string, isConstant = false): string {
    const isOwn = this.#isOwn(type)
    if (text === undefined && !isOwn) return `${this.type(type)} ${name}`
    const reference = !isOwn ? '' : isConstant ? '&' : '&&'
    const value = this.own(type, text ?? zeroText(type, this.context.names))
    return `${isConstant ? 'const ' : ''}${this.type(type)}${reference} ${name} = ${value}`
  }

  /** Declares a constant that holds `text`, and names it. */
  temporary(type: Type, text: string): string {
    const name = `t${this.#temporaries++}`
    this.line(`${this.declaration(type, name, text, true)};`)
    return name
  }

  /** A new name for a variable that the caller declares. */
  temporaryName(): string {
    return `t${this.#temporaries++}`
  }

  label(): string {
    return `next${this.#labels++}`
  }

  /** Returns the result of `write` and, separately, the statements that it adds. */
  capture<T>(write: () => T): { result: T; lines: Line[] } {
    const outer = this.lines
    this.lines = []
    const result = write()
    const lines = this.lines
    this.lines = outer
    return { result, lines }
  }

  uses(variable: ModuleVariable): string {
    this.needs.variables.add(variable)
    return this.context.names.of(variable)
  }

  lengthOf(variable: ModuleVariable): string {
    this.needs.variables.add(variable)
    this.needs.lengths.add(variable)
    return lengthName(this.context.names, variable)
  }

  /** The statements before a barrier that end a group of asynchronous copies, and wait for earlier ones. */
  asyncWaits(barrier: BuiltinCall): string[] {
    const { asyncCopies, names } = this.context
    const groups = asyncCopies.waits.get(barrier)
    const wait =
      groups === undefined
        ? []
        : [groups === 0 ? this.asyncWait() : `${names.prelude('async_wait_before')}<${groups}u>();`]
    return asyncCopies.hasGroups ? [`${names.prelude('async_commit')}();`, ...wait] : wait
  }

  /** The statement that waits for asynchronous copies. */
  asyncWait(): string {
    return `${this.context.names.prelude('async_wait')}();`
  }
}

/** The variable that holds the number of elements of a runtime-sized binding. */
export function lengthName(names: Names, variable: ModuleVariable): string {
  return `${names.of(variable)}length`
}

/** The variable that holds the view of a binding in trap mode. */
export function viewName(names: Names, variable: ModuleVariable): string {
  return `${names.of(variable)}view`
}

/** Whether no statement can change the value of the expression. */
export function isFixed(e: Expression): boolean {
  switch (e.kind) {
    case 'literal':
    case 'zero':
    case 'value':
    case 'constant':
      return true
    case 'swizzle':
    case 'member':
      return isFixed(e.base)
    default:
      return false
  }
}
