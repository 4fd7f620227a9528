/**
 * The typed intermediate representation of one WGSL compute entry point.
 *
 * `lower` creates it; emitters (CUDA C++, JavaScript) read it. An emitter may rely on the following:
 *
 * - Every expression has its concrete WGSL type and its source location. Abstract numerics, aliases,
 * overrides, const-declarations and const_assert are gone: const-expressions and override-expressions are
 * folded. - Types are interned: two equal types are the same object, `a.type === b.type` compares them. -
 * References and values are distinct. A `Place` names memory; a value is read from it by an explicit `load`.
 * A load evaluates to the value at that moment: WGSL evaluates operands and arguments left to right. -
 * Pointers appear only in three forms: an `address-of` as an argument of a user call whose parameter is a
 * pointer in the `function` address space; an `address-of` as first argument of an atomic builtin,
 * `arrayLength`, `bufferLength`, `workgroupUniformLoad`, `subgroupMatrixLoad` or `subgroupMatrixStore`; and a
 * `deref` of a pointer PARAMETER. Pointer lets are replaced by their places (with index expressions evaluated
 * once, at the declaration), and functions with pointer parameters into `storage`, `uniform`, `workgroup` or
 * `private` memory are specialized for each variable that is passed, with dynamic indices as extra
 * parameters. So every access to module memory has a statically known variable at its root. - Names are the
 * source's own, so they may clash with words of the target language; `id` is unique in the module. - Implicit
 * things are explicit: scalar operands of mixed vector operators stay scalar (see `binary`), everything else
 * has equal types on both sides; zero values are `zero`; splats are `splat`.
 */

import type { BuiltinFunction } from './builtin-functions.ts'
import type { WgslWarning } from './wgsl-error.ts'

/** A position in the WGSL source; both count from 1, columns in UTF-16 code units. */
export interface Location {
  readonly line: number
  readonly column: number
}

// ----------------------------------------------------------------------------------------------------------
// types

/** The concrete scalar types. */
export type ScalarKind = 'bool' | 'i32' | 'u32' | 'f32' | 'f16'

/** The address spaces of variables and pointers. */
export type AddressSpace = 'function' | 'private' | 'workgroup' | 'storage' | 'uniform'

/** The access modes of storage variables; other spaces are `read_write`, and `uniform` is `read`. */
export type Access = 'read' | 'write' | 'read_write'

/** A scalar. */
export interface ScalarType {
  readonly kind: 'scalar'
  readonly scalar: ScalarKind
}

/** A vector of `size` scalars. */
export interface VectorType {
  readonly kind: 'vector'
  readonly size: 2 | 3 | 4
  readonly scalar: ScalarKind
}

/** `mat{columns}x{rows}`: `columns` vectors of `rows` scalars. */
export interface MatrixType {
  readonly kind: 'matrix'
  readonly columns: 2 | 3 | 4
  readonly rows: 2 | 3 | 4
  readonly scalar: 'f32' | 'f16'
}

/** `atomic<i32>` or `atomic<u32>`; exists only in memory, never as a value. */
export interface AtomicType {
  readonly kind: 'atomic'
  readonly scalar: 'i32' | 'u32'
  /** True for `atomic<vec2u>`: a 64-bit number, low word first, for `atomicStoreMin` and `atomicStoreMax`. */
  readonly wide?: true
}

/** An array; `length` is undefined for a runtime-sized one. `stride` is in bytes. */
export interface ArrayType {
  readonly kind: 'array'
  readonly element: Type
  readonly length: number | undefined
  readonly stride: number
}

/** A member of a structure with its memory layout in bytes. `size` takes `@size` into account. */
export interface StructMember {
  readonly name: string
  readonly index: number
  readonly type: Type
  readonly offset: number
  readonly size: number
  readonly align: number
}

/** A structure. `size` is rounded up to `align`; a last runtime-sized array counts as zero elements in it. */
export interface StructType {
  readonly kind: 'struct'
  readonly name: string
  readonly members: readonly StructMember[]
  readonly size: number
  readonly align: number
  /**
   * True for the result structures of frexp, modf and atomicCompareExchangeWeak (`__frexp_result_vec2_f32`,
   * ...).
   */
  readonly builtin: boolean
}

/** A pointer to memory that holds a `store`. */
export interface PointerType {
  readonly kind: 'pointer'
  readonly space: AddressSpace
  readonly store: Type
  readonly access: Access
}

/** `buffer<length>`, or `buffer` if `length` is undefined: untyped bytes, which views access as a type. */
export interface BufferType {
  readonly kind: 'buffer'
  readonly length: number | undefined
}

/** The role of a subgroup matrix in a product `result = left · right`. */
export type SubgroupMatrixRole = 'left' | 'right' | 'result'

/** The component types of subgroup matrices; the 8-bit types exist only there. */
export type SubgroupMatrixComponent = 'f32' | 'f16' | 'i32' | 'u32' | 'i8' | 'u8'

/**
 * `subgroup_matrix_{role}<component, columns, rows>`: a matrix that the invocations of a subgroup hold
 * together. The assignment of components to invocations is unspecified, so the size of the type has no
 * meaning, and matrices exist only in function variables, lets and parameters.
 */
export interface SubgroupMatrixType {
  readonly kind: 'subgroup-matrix'
  readonly role: SubgroupMatrixRole
  readonly component: SubgroupMatrixComponent
  readonly columns: number
  readonly rows: number
}

/** Any type. */
export type Type =
  | ScalarType
  | VectorType
  | MatrixType
  | AtomicType
  | ArrayType
  | StructType
  | PointerType
  | BufferType
  | SubgroupMatrixType

// ------------------------------------------------------------------------------------------------------
// variables

/** A variable of module scope: a binding (`storage`, `uniform`), `workgroup` or `private`. */
export interface ModuleVariable {
  readonly kind: 'module-variable'
  readonly id: number
  readonly name: string
  readonly space: 'storage' | 'uniform' | 'workgroup' | 'private'
  readonly access: Access
  readonly type: Type
  /** Present for `storage` and `uniform`. */
  readonly binding: { readonly group: number; readonly binding: number } | undefined
  /**
   * The initial value of a `private` variable: a constant expression or the name of a constant; undefined
   * means the zero value.
   */
  readonly initial: Expression | undefined
  readonly loc: Location
}

/** A `var` of function scope: memory that is accessed through a `variable` place. */
export interface LocalVariable {
  readonly kind: 'local-variable'
  readonly id: number
  readonly name: string
  readonly type: Type
  readonly loc: Location
}

/** A `let`: a value, never a pointer. */
export interface LetValue {
  readonly kind: 'let-value'
  readonly id: number
  readonly name: string
  readonly type: Type
  readonly loc: Location
}

/** A function parameter; of pointer type only in the `function` address space. */
export interface Parameter {
  readonly kind: 'parameter'
  readonly id: number
  readonly name: string
  readonly type: Type
  /** What the parameter of an entry point receives; entry points have no other parameters. */
  readonly builtin: BuiltinValue | undefined
  /** Whether it is an input of a vertex or fragment shader, which is checked but never part of a module. */
  readonly isRenderInput?: boolean
  readonly loc: Location
}

/**
 * A named constant of array or structure type (smaller constants are folded into `literal` and `construct`).
 */
export interface Constant {
  readonly kind: 'constant-declaration'
  readonly id: number
  readonly name: string
  readonly type: ArrayType | StructType
  /** Nested `construct`, `splat`, `zero` and `literal` only. */
  readonly value: Expression
  readonly loc: Location
}

/**
 * The built-in values that a compute entry point can receive; vec3u or u32. `global_invocation_index`
 * linearizes `global_invocation_id` over the whole grid of invocations, x fastest; it does not count
 * workgroup by workgroup.
 */
export type BuiltinValue =
  | 'local_invocation_id'
  | 'local_invocation_index'
  | 'global_invocation_id'
  | 'global_invocation_index'
  | 'workgroup_id'
  | 'workgroup_index'
  | 'num_workgroups'
  | 'subgroup_invocation_id'
  | 'subgroup_size'
  | 'subgroup_id'
  | 'num_subgroups'

// ---------------------------------------------------------------------------------------------------------
// places

/**
 * A whole variable. For a buffer, `type` may be a shorter buffer, if a pointer parameter exposes only that
 * part to its function.
 */
export interface VariablePlace {
  readonly kind: 'variable'
  readonly variable: ModuleVariable | LocalVariable
  /**
   * The pointer parameter, by its position in the source, through which the source reaches the variable, if
   * it does.
   */
  readonly parameter?: number
  readonly type: Type
  readonly loc: Location
}

/** The memory that a pointer parameter points to (always `function` memory). */
export interface DerefPlace {
  readonly kind: 'deref'
  readonly pointer: Parameter
  /** The position of the pointer parameter in the source. */
  readonly parameter: number
  readonly type: Type
  readonly loc: Location
}

/** A structure's member. */
export interface MemberPlace {
  readonly kind: 'member-place'
  readonly base: Place
  readonly member: StructMember
  readonly type: Type
  readonly loc: Location
}

/**
 * An array's element, a matrix's column, or a vector's component by an index (i32 or u32) that is not
 * constant for vectors.
 */
export interface IndexPlace {
  readonly kind: 'index-place'
  readonly base: Place
  readonly index: Expression
  readonly type: Type
  readonly loc: Location
}

/** A vector's component, 0 to 3. */
export interface ComponentPlace {
  readonly kind: 'component-place'
  readonly base: Place
  readonly component: number
  readonly type: ScalarType
  readonly loc: Location
}

/**
 * A part of a buffer, viewed as a `type` (`bufferView`, `bufferArrayView`). `offset` is in bytes, i32 or u32,
 * rounded down to the type's alignment; `size`, in bytes, limits the runtime-sized array in `type`. The base
 * is a variable. A view that extends past its buffer is moved inside it.
 */
export interface ViewPlace {
  readonly kind: 'view-place'
  readonly base: Place
  readonly offset: Expression
  readonly size: Expression | undefined
  readonly type: Type
  readonly loc: Location
}

/** An expression that refers to memory; `type` is the type stored there. */
export type Place = VariablePlace | DerefPlace | MemberPlace | IndexPlace | ComponentPlace | ViewPlace

// ----------------------------------------------------------------------------------------------------
// expressions

/**
 * A scalar constant. f32 and f16 values are already rounded to their type and finite; i32 and u32 are in
 * range; -0 is kept.
 */
export interface Literal {
  readonly kind: 'literal'
  readonly value: number | boolean
  readonly type: ScalarType
  readonly loc: Location
}

/** The zero value of any constructible type: `vec3f()`, `S()`, `array<f32, 64>()`. */
export interface Zero {
  readonly kind: 'zero'
  readonly type: Type
  readonly loc: Location
}

/** A vector from one scalar: `vec3f(x)`. */
export interface Splat {
  readonly kind: 'splat'
  readonly value: Expression
  readonly type: VectorType
  readonly loc: Location
}

/**
 * A composite from parts, evaluated in order: vectors from scalars and vectors whose components add up;
 * matrices from `columns` vectors or `columns * rows` scalars; arrays from `length` elements; structures from
 * all members.
 */
export interface Construct {
  readonly kind: 'construct'
  readonly args: readonly Expression[]
  readonly type: VectorType | MatrixType | ArrayType | StructType
  readonly loc: Location
}

/**
 * A value conversion between scalar kinds, by component for vectors and matrices: `f32(i)`, `vec2u(v)`;
 * operand and type differ.
 */
export interface Convert {
  readonly kind: 'convert'
  readonly value: Expression
  readonly type: ScalarType | VectorType | MatrixType
  readonly loc: Location
}

/**
 * A reinterpretation of bits between types of equal size (vectors included, `bitcast<vec2h>(u)`); types
 * differ.
 */
export interface Bitcast {
  readonly kind: 'bitcast'
  readonly value: Expression
  readonly type: ScalarType | VectorType
  readonly loc: Location
}

/** The value of a let or of a non-pointer parameter. */
export interface ValueReference {
  readonly kind: 'value'
  readonly value: LetValue | Parameter
  readonly type: Type
  readonly loc: Location
}

/** The value of a named constant (array or structure). */
export interface ConstantReference {
  readonly kind: 'constant'
  readonly constant: Constant
  readonly type: Type
  readonly loc: Location
}

/** The value now held by a place; never of atomic or runtime-sized type. */
export interface Load {
  readonly kind: 'load'
  readonly place: Place
  readonly type: Type
  readonly loc: Location
}

/**
 * A pointer to a place; only as an argument (see the head of this file). A pointer parameter passed on is
 * `address-of` its `deref`.
 */
export interface AddressOf {
  readonly kind: 'address-of'
  readonly place: Place
  readonly type: PointerType
  readonly loc: Location
}

/** A member of a structure value. */
export interface Member {
  readonly kind: 'member'
  readonly base: Expression
  readonly member: StructMember
  readonly type: Type
  readonly loc: Location
}

/**
 * An element of an array value, a column of a matrix value, or a component of a vector value; the index is
 * i32 or u32.
 */
export interface Index {
  readonly kind: 'index'
  readonly base: Expression
  readonly index: Expression
  readonly type: Type
  readonly loc: Location
}

/** Components of a vector value, each 0 to 3: one gives a scalar, two to four a vector. */
export interface Swizzle {
  readonly kind: 'swizzle'
  readonly base: Expression
  readonly components: readonly number[]
  readonly type: ScalarType | VectorType
  readonly loc: Location
}

/**
 * `-` (wraps for i32), `!` (bool) or `~` (integers), by component for vectors. WGSL has no unary minus on
 * matrices.
 */
export interface Unary {
  readonly kind: 'unary'
  readonly operator: '-' | '!' | '~'
  readonly value: Expression
  readonly type: ScalarType | VectorType
  readonly loc: Location
}

/** The operators of `binary` and of compound assignment; `&` and `|` also on bools (no short circuit). */
export type BinaryOperator =
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | '&'
  | '|'
  | '^'
  | '<<'
  | '>>'
  | '=='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='

/**
 * A binary operator. Operand types are equal except: vector with scalar of its kind (`+ - * / %` both ways);
 * `*` of matrix with scalar, vector or matrix (linear algebra); shifts, whose right side is u32 or a vector
 * of u32 (of equal size). Comparisons yield bool or vectors of bool.
 */
export interface Binary {
  readonly kind: 'binary'
  readonly operator: BinaryOperator
  readonly left: Expression
  readonly right: Expression
  readonly type: ScalarType | VectorType | MatrixType
  readonly loc: Location
}

/** Short-circuit `&&` or `||` on bool. */
export interface Logical {
  readonly kind: 'logical'
  readonly operator: '&&' | '||'
  readonly left: Expression
  readonly right: Expression
  readonly type: ScalarType
  readonly loc: Location
}

/**
 * A call of a built-in function. The types of `args` determine the overload. Arguments that the specification
 * allows only as constants (`quadBroadcast`'s and `subgroupBroadcast`'s lane) are literals.
 */
export interface BuiltinCall<Result extends Type | undefined = Type | undefined> {
  readonly kind: 'builtin-call'
  readonly name: BuiltinFunction
  readonly args: readonly Expression[]
  readonly type: Result
  /**
   * Set for a subgroup operation that a `diagnostic` filter allows in divergent control flow: the severity of
   * the message.
   */
  readonly filtered?: 'warning' | 'info' | 'off'
  readonly loc: Location
}

/**
 * A pointer argument in the source: its position, and the variable or pointer at the root of the place that
 * it points to.
 */
export interface PointerArgument {
  readonly position: number
  readonly root: VariablePlace | DerefPlace
}

/** A call of a user function. */
export interface Call<Result extends Type | undefined = Type | undefined> {
  readonly kind: 'call'
  readonly function: IrFunction
  readonly args: readonly Expression[]
  /**
   * All pointer arguments, including those for which the function is specialized; `args` contains only the
   * indices of the latter.
   */
  readonly pointers: readonly PointerArgument[]
  readonly type: Result
  readonly loc: Location
}

/** Any expression that yields a value. */
export type Expression =
  | Literal
  | Zero
  | Splat
  | Construct
  | Convert
  | Bitcast
  | ValueReference
  | ConstantReference
  | Load
  | AddressOf
  | Member
  | Index
  | Swizzle
  | Unary
  | Binary
  | Logical
  | BuiltinCall<Type>
  | Call<Type>

/** What an `evaluate` statement evaluates: it alone may have a call that returns nothing. */
export type Evaluated = Expression | BuiltinCall<undefined> | Call<undefined>

// -----------------------------------------------------------------------------------------------------
// statements

/** Statements in a scope of their own. */
export interface Block {
  readonly kind: 'block'
  readonly statements: readonly Statement[]
  readonly loc: Location
}

/** Declares a let. */
export interface LetStatement {
  readonly kind: 'let'
  readonly variable: LetValue
  readonly value: Expression
  readonly loc: Location
}

/** Declares a variable, set anew each time it executes; `initial` undefined means the zero value. */
export interface VarStatement {
  readonly kind: 'var'
  readonly variable: LocalVariable
  readonly initial: Expression | undefined
  readonly loc: Location
}

/** Stores a value. The place's indices are evaluated before `value`. */
export interface Assign {
  readonly kind: 'assign'
  readonly target: Place
  readonly value: Expression
  readonly loc: Location
}

/**
 * `target = target operator value` with the place evaluated once, its load BEFORE `value`; `i++` is `+= 1`.
 * Types as for `binary`.
 */
export interface CompoundAssign {
  readonly kind: 'compound-assign'
  readonly target: Place
  readonly operator: Exclude<BinaryOperator, '==' | '!=' | '<' | '<=' | '>' | '>='>
  readonly value: Expression
  readonly loc: Location
}

/** Evaluates for its effects: call statements and `_ = e`. */
export interface Evaluate {
  readonly kind: 'evaluate'
  readonly value: Evaluated
  readonly loc: Location
}

/** A conditional; else-if is an `otherwise` with one `if` in it. */
export interface If {
  readonly kind: 'if'
  readonly condition: Expression
  readonly then: Block
  readonly otherwise: Block | undefined
  readonly loc: Location
}

/** One clause of a switch. A default clause may also have selectors. There is no fall-through. */
export interface SwitchClause {
  readonly selectors: readonly number[]
  readonly isDefault: boolean
  readonly body: Block
  readonly loc: Location
}

/** A switch over i32 or u32; exactly one clause is the default; `break` leaves it. */
export interface Switch {
  readonly kind: 'switch'
  readonly selector: Expression
  readonly clauses: readonly SwitchClause[]
  readonly loc: Location
}

/**
 * `loop { body continuing { ...; break if breakIf; } }`. `continue` in the body goes to `continuing`. Both
 * `continuing` and `breakIf` see the variables declared directly in `body`, and `breakIf` also those of
 * `continuing`.
 */
export interface Loop {
  readonly kind: 'loop'
  readonly body: Block
  readonly continuing: Block | undefined
  readonly breakIf: Expression | undefined
  readonly loc: Location
}

/**
 * A loop; the declarations of `initial` are in scope in all other parts, and no condition means true. A
 * `while` loop has only a condition.
 */
export interface For {
  readonly kind: 'for'
  readonly keyword: 'for' | 'while'
  readonly initial: Statement | undefined
  readonly condition: Expression | undefined
  readonly update: Statement | undefined
  readonly body: Block
  readonly loc: Location
}

/** Leaves the innermost loop or switch. */
export interface Break {
  readonly kind: 'break'
  readonly loc: Location
}

/** Jumps to the continuing part of the innermost loop, out of any switch inside it. */
export interface Continue {
  readonly kind: 'continue'
  readonly loc: Location
}

/** Returns from the function. */
export interface Return {
  readonly kind: 'return'
  readonly value: Expression | undefined
  readonly loc: Location
}

/** Any statement. */
export type Statement =
  | Block
  | LetStatement
  | VarStatement
  | Assign
  | CompoundAssign
  | Evaluate
  | If
  | Switch
  | Loop
  | For
  | Break
  | Continue
  | Return

// ---------------------------------------------------------------------------------------------------------
// module

/**
 * A function. A source function that is specialized for several pointer arguments appears once for each
 * specialization, with different ids.
 */
export interface IrFunction {
  readonly kind: 'function'
  readonly id: number
  readonly name: string
  readonly parameters: readonly Parameter[]
  readonly returnType: Type | undefined
  readonly body: Block
  readonly loc: Location
}

/** The features that a kernel requires of a device, by the names that WebGPU and Dawn use. */
export type KernelFeature = 'shader-f16' | 'subgroups' | 'chromium-experimental-subgroup-matrix'

/** An override as declared in the module, with the value that it is specialized to. */
export interface Override {
  readonly name: string
  /** From `@id`. */
  readonly id: number | undefined
  readonly type: ScalarType
  /**
   * The declared default, evaluated with the constants given; undefined when there is none or it cannot be
   * evaluated.
   */
  readonly default: number | boolean | undefined
  /** The value used; undefined only for an override without value that the entry point does not need. */
  readonly value: number | boolean | undefined
  readonly loc: Location
}

/** One compute entry point with everything that it uses, and nothing else. */
export interface IrModule {
  readonly kind: 'module'
  readonly label: string
  readonly source: string
  /** The entry point; its function has only `builtin` parameters and returns nothing. */
  readonly entryPoint: IrFunction
  readonly workgroupSize: readonly [number, number, number]
  /** Structures used, each after the structures it contains; builtin result structures included. */
  readonly structs: readonly StructType[]
  readonly constants: readonly Constant[]
  readonly overrides: readonly Override[]
  /** Module variables used by reachable code, in order of declaration. */
  readonly variables: readonly ModuleVariable[]
  /** Where the last view ends, in bytes, of variables with views at constant offsets. */
  readonly viewedBytes: ReadonlyMap<ModuleVariable, number>
  /** All functions, callees before callers, the entry point last. */
  readonly functions: readonly IrFunction[]
  /** Optional features the code uses: from `enable`. */
  readonly features: readonly KernelFeature[]
  /** Warnings of the whole source, whether or not the entry point reaches the code. */
  readonly warnings: readonly WgslWarning[]
}
