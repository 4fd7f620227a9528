import type { SourceText } from '../source-text.ts'
import type { AttributeNode, ExpressionNode, ModuleDeclarationNode } from './ast.ts'
import { namingAttributes } from './expression-parser.ts'

/** The orders of modules that were checked, for modules with many entry points. */
const orders = new WeakMap<readonly ModuleDeclarationNode[], ReadonlySet<ModuleDeclarationNode>>()

/**
 * The declarations of a module, each after those that it mentions. Resolving them in this order avoids deep
 * recursion for a long chain of declarations. Throws if a declaration depends on itself.
 */
export function inDependencyOrder(
  source: SourceText,
  declarations: readonly ModuleDeclarationNode[],
): ReadonlySet<ModuleDeclarationNode> {
  const known = orders.get(declarations)
  if (known !== undefined) return known
  const byName = new Map(declarations.map((declaration) => [declaration.name, declaration]))
  const order = new Set<ModuleDeclarationNode>()
  const begun = new Set<ModuleDeclarationNode>()
  const stack: { declaration: ModuleDeclarationNode; names: Iterator<string> }[] = []
  const begin = (declaration: ModuleDeclarationNode) => {
    begun.add(declaration)
    stack.push({ declaration, names: namesIn(declaration).values() })
  }
  for (const start of declarations) {
    if (!begun.has(start)) begin(start)
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const next = top.names.next()
      if (next.done) {
        order.add(top.declaration)
        stack.pop()
        continue
      }
      const named = byName.get(next.value)
      if (named === undefined || order.has(named)) continue
      if (begun.has(named))
        throw source.error(named.at, `the declaration of '${named.name}' depends on itself`)
      begin(named)
    }
  }
  orders.set(declarations, order)
  return order
}

/** The names that a declaration mentions outside of a function's body. */
function namesIn(declaration: ModuleDeclarationNode): Set<string> {
  const names = new Names()
  switch (declaration.kind) {
    case 'alias':
      names.expression(declaration.type)
      break
    case 'struct':
      for (const member of declaration.members) {
        names.attributes(member.attributes)
        names.expression(member.type)
      }
      break
    case 'function':
      names.attributes(declaration.attributes)
      for (const parameter of declaration.parameters) {
        names.attributes(parameter.attributes)
        names.expression(parameter.type)
      }
      names.attributes(declaration.returnAttributes)
      names.expression(declaration.returnType)
      break
    default:
      names.attributes(declaration.attributes)
      names.expressions(declaration.templates)
      names.expression(declaration.type)
      names.expression(declaration.initial)
  }
  return names.found
}

class Names {
  readonly found = new Set<string>()

  attributes(attributes: readonly AttributeNode[]): void {
    for (const { name, args } of attributes) if (!namingAttributes.has(name)) this.expressions(args)
  }

  expressions(nodes: readonly ExpressionNode[] | undefined): void {
    for (const node of nodes ?? []) this.expression(node)
  }

  expression(node: ExpressionNode | undefined): void {
    if (node === undefined || node.kind === 'literal') return
    if (node.kind === 'name') {
      this.found.add(node.name)
      this.expressions(node.templates)
    } else if (node.kind === 'call') this.expressions([node.callee, ...node.args])
    else if (node.kind === 'unary') this.expression(node.value)
    else if (node.kind === 'binary') this.expressions([node.left, node.right])
    else if (node.kind === 'index') this.expressions([node.base, node.index])
    else this.expression(node.base)
  }
}
