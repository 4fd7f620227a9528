/*
 * The syntax tree of a WGSL module. `at` is the offset of a node's start in the source. Parentheses have no
 * nodes.
 */

export interface LiteralNode {
  kind: 'literal'
  text: string
  at: number
}

/** The severities of a diagnostic. */
export type Severity = 'error' | 'warning' | 'info' | 'off'

/** A name with an optional template list: a variable, a type, or a callee. */
export interface NameNode {
  kind: 'name'
  name: string
  templates: ExpressionNode[] | undefined
  at: number
}

export interface CallNode {
  kind: 'call'
  callee: NameNode
  args: ExpressionNode[]
  at: number
}

export interface UnaryNode {
  kind: 'unary'
  operator: '-' | '!' | '~' | '*' | '&'
  value: ExpressionNode
  at: number
}

export interface BinaryNode {
  kind: 'binary'
  operator: string
  left: ExpressionNode
  right: ExpressionNode
  at: number
}

export interface IndexNode {
  kind: 'index'
  base: ExpressionNode
  index: ExpressionNode
  at: number
}

export interface MemberNode {
  kind: 'member'
  base: ExpressionNode
  name: string
  nameAt: number
  at: number
}

export type ExpressionNode =
  | LiteralNode
  | NameNode
  | CallNode
  | UnaryNode
  | BinaryNode
  | IndexNode
  | MemberNode

export interface AttributeNode {
  name: string
  args: ExpressionNode[]
  /** The argument of `@diagnostic`: a rule and its severity. */
  control?: { rule: string; severity: Severity }
  at: number
}

/** A range of the source that can have a `@diagnostic` attribute. */
export interface FilteredNode {
  /** The severity of the rule `subgroup_uniformity` in this node, if it is set. */
  subgroupUniformity?: Severity | undefined
}

export interface BlockNode extends FilteredNode {
  kind: 'block'
  statements: StatementNode[]
  at: number
  end: number
}

export interface DeclarationNode {
  kind: 'let' | 'var' | 'const'
  name: string
  nameAt: number
  templates: ExpressionNode[] | undefined
  type: NameNode | undefined
  initial: ExpressionNode | undefined
  at: number
}

export interface AssignNode {
  kind: 'assign'
  /** Undefined for `_ =`. */
  target: ExpressionNode | undefined
  /** `=`, or the operator of a compound assignment without its `=`. */
  operator: string
  value: ExpressionNode
  at: number
}

export interface IncrementNode {
  kind: 'increment'
  operator: '+' | '-'
  target: ExpressionNode
  at: number
}

export interface CallStatementNode {
  kind: 'call-statement'
  call: CallNode
  at: number
}

export interface IfNode extends FilteredNode {
  kind: 'if'
  condition: ExpressionNode
  then: BlockNode
  otherwise: IfNode | BlockNode | undefined
  at: number
}

export interface SwitchNode extends FilteredNode {
  kind: 'switch'
  selector: ExpressionNode
  clauses: { selectors: (ExpressionNode | 'default')[]; body: BlockNode; at: number }[]
  /** Like `subgroupUniformity`, but only for the clauses. */
  clausesSubgroupUniformity: Severity | undefined
  at: number
}

export interface LoopNode extends FilteredNode {
  kind: 'loop'
  body: BlockNode
  continuing: { body: BlockNode; breakIf: ExpressionNode | undefined; at: number } | undefined
  at: number
}

export interface ForNode extends FilteredNode {
  kind: 'for'
  initial: StatementNode | undefined
  condition: ExpressionNode | undefined
  update: StatementNode | undefined
  body: BlockNode
  at: number
}

export interface WhileNode extends FilteredNode {
  kind: 'while'
  condition: ExpressionNode
  body: BlockNode
  at: number
}

export interface JumpNode {
  kind: 'break' | 'continue' | 'discard'
  at: number
}

export interface ReturnNode {
  kind: 'return'
  value: ExpressionNode | undefined
  at: number
}

export interface ConstAssertNode {
  kind: 'const-assert'
  condition: ExpressionNode
  at: number
}

export type StatementNode =
  | BlockNode
  | DeclarationNode
  | AssignNode
  | IncrementNode
  | CallStatementNode
  | IfNode
  | SwitchNode
  | LoopNode
  | ForNode
  | WhileNode
  | JumpNode
  | ReturnNode
  | ConstAssertNode

export interface FunctionNode extends FilteredNode {
  kind: 'function'
  name: string
  attributes: AttributeNode[]
  parameters: { name: string; type: NameNode; attributes: AttributeNode[]; at: number }[]
  returnType: NameNode | undefined
  returnAttributes: AttributeNode[]
  body: BlockNode
  at: number
}

export interface StructNode {
  kind: 'struct'
  name: string
  members: { name: string; type: NameNode; attributes: AttributeNode[]; at: number }[]
  at: number
}

export interface AliasNode {
  kind: 'alias'
  name: string
  type: NameNode
  at: number
}

export interface GlobalNode {
  kind: 'global-var' | 'global-const' | 'override'
  name: string
  attributes: AttributeNode[]
  templates: ExpressionNode[] | undefined
  type: NameNode | undefined
  initial: ExpressionNode | undefined
  at: number
}

/** A declaration of module scope that has a name. */
export type ModuleDeclarationNode = FunctionNode | StructNode | AliasNode | GlobalNode

export interface ModuleNode extends FilteredNode {
  /** Names of `enable` directives. */
  enables: { name: string; at: number }[]
  /** `diagnostic` filters of rules that are not known. */
  unknownRules: readonly { readonly rule: string; readonly at: number }[]
  declarations: ModuleDeclarationNode[]
  asserts: ConstAssertNode[]
}
