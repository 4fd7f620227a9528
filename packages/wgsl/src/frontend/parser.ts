import type { SourceText } from '../source-text.ts'
import type {
  AttributeNode,
  BlockNode,
  ConstAssertNode,
  FunctionNode,
  GlobalNode,
  ModuleDeclarationNode,
  ModuleNode,
  NameNode,
  Severity,
  StructNode,
} from './ast.ts'
import { ExpressionParser, severityOf } from './expression-parser.ts'
import { maximumMembers, maximumParameters } from './limits.ts'
import { parseBlock } from './statement-parser.ts'

/** The extensions of `enable`; the features that they add are checked where they are used. */
const enableNames = new Set(
  `f16 subgroups subgroup_size_control atomic_vec2u_min_max chromium_experimental_subgroup_matrix clip_distances
  dual_source_blending primitive_index`.split(/\s+/),
)

/** The language features that kernels may use, which are always enabled. */
export const languageFeatures: readonly string[] =
  `packed_4x8_integer_dot_product pointer_composite_access unrestricted_pointer_parameters uniform_buffer_standard_layout
  subgroup_id subgroup_uniformity linear_indexing swizzle_assignment buffer_view`.split(/\s+/)

/** The other language features of Dawn; compute shaders cannot use them here, but their module may require them. */
const otherLanguageFeatures =
  `readonly_and_readwrite_storage_textures texture_and_sampler_let texture_formats_tier1 fragment_depth
  immediate_address_space`.split(/\s+/)

/** The attributes that declarations accept. */
const globalAttributes = { var: ['group', 'binding'], override: ['id'], const: [] } as const
const functionAttributes = 'compute vertex fragment workgroup_size subgroup_size must_use diagnostic'.split(
  ' ',
)
const ioAttributes = ['builtin', 'location', 'interpolate', 'invariant', 'blend_src']
const memberAttributes = ['align', 'size', ...ioAttributes]

/** Parses a module; throws `WgslError` at the first unexpected token. */
export function parseModule(source: SourceText): ModuleNode {
  const parser = new ModuleParser(source)
  return parser.module()
}

class ModuleParser extends ExpressionParser {
  module(): ModuleNode {
    const { unknownRules } = this
    const module: ModuleNode = { enables: [], declarations: [], asserts: [], unknownRules }
    this.#directives(module)
    while (this.peek.kind !== 'end') {
      if (this.accept(';')) continue
      const declaration = this.#declaration()
      if (declaration.kind === 'const-assert') module.asserts.push(declaration)
      else module.declarations.push(declaration)
    }
    return module
  }

  #directives(module: ModuleNode): void {
    const severities = new Map<string, Severity>()
    for (;;) {
      if (this.accept('enable')) {
        do {
          const at = this.peek.at
          const name = this.word('an extension name')
          if (!enableNames.has(name)) throw this.source.error(at, `the extension '${name}' is unknown`)
          module.enables.push({ name, at })
        } while (this.accept(',') && !this.is(';'))
        this.expect(';')
      } else if (this.accept('requires')) {
        do {
          const at = this.peek.at
          const name = this.word('a language feature name')
          if (![...languageFeatures, ...otherLanguageFeatures].includes(name))
            throw this.source.error(at, `the language feature '${name}' is unknown`)
        } while (this.accept(',') && !this.is(';'))
        this.expect(';')
      } else if (this.is('diagnostic')) {
        const { at } = this.next()
        this.diagnosticControl(at, severities, true)
        this.expect(';')
      } else {
        const control = module.enables.find(({ name }) => name === 'subgroup_size_control')
        if (control !== undefined && !module.enables.some(({ name }) => name === 'subgroups'))
          throw this.source.error(control.at, `the extension '${control.name}' needs 'enable subgroups;'`)
        module.subgroupUniformity = severities.get('subgroup_uniformity')
        return
      }
    }
  }

  #declaration(): ModuleDeclarationNode | ConstAssertNode {
    const attributes = this.anyAttributes()
    const { text, at } = this.peek
    switch (text) {
      case 'fn':
        return this.#function(attributes)
      case 'struct':
        this.allowed(attributes, [], 'a struct')
        return this.#struct()
      case 'alias': {
        this.allowed(attributes, [], 'an alias')
        this.next()
        const name = this.identifier()
        this.expect('=')
        const type = this.type()
        this.expect(';')
        return { kind: 'alias', name, type, at }
      }
      case 'const_assert': {
        this.allowed(attributes, [], 'a const_assert')
        this.next()
        const condition = this.expression()
        this.expect(';')
        return { kind: 'const-assert', condition, at }
      }
      case 'var':
      case 'const':
      case 'override':
        return this.#global(attributes, text)
      case 'enable':
      case 'requires':
      case 'diagnostic':
        throw this.source.error(at, `'${text}' must come before all declarations`)
      default:
        throw this.unexpected('a declaration')
    }
  }

  #global(attributes: AttributeNode[], keyword: 'var' | 'const' | 'override'): GlobalNode {
    this.allowed(attributes, globalAttributes[keyword], `a ${keyword}`)
    this.next()
    const templates = keyword === 'var' ? this.templates() : undefined
    const at = this.peek.at
    const name = this.identifier()
    const type = this.accept(':') ? this.type() : undefined
    const initial = this.accept('=') ? this.expression() : undefined
    if (keyword === 'const' && initial === undefined) throw this.unexpected("'=' and the value of the const")
    this.expect(';')
    const kind = keyword === 'var' ? 'global-var' : keyword === 'const' ? 'global-const' : 'override'
    return { kind, name, attributes, templates, type, initial, at }
  }

  #struct(): StructNode {
    this.next()
    const at = this.peek.at
    const name = this.identifier()
    const members = this.list('{', '}', () => this.#typedName(memberAttributes, 'a member of a structure'))
    if (members.length === 0) throw this.source.error(at, `the structure '${name}' has no members`)
    this.#limited(at, `the structure '${name}'`, members.length, 'members', maximumMembers)
    return { kind: 'struct', name, members, at }
  }

  #limited(at: number, what: string, count: number, parts: string, most: number): void {
    if (count > most) throw this.source.error(at, `${what} has ${count} ${parts}, above the limit of ${most}`)
  }

  /** `@attributes name: type`. */
  #typedName(
    attributeNames: readonly string[],
    what: string,
  ): { name: string; type: NameNode; attributes: AttributeNode[]; at: number } {
    const attributes = this.attributes(attributeNames, what)
    const { at } = this.peek
    const name = this.identifier()
    this.expect(':')
    return { name, type: this.type(), attributes, at }
  }

  #function(anyAttributes: AttributeNode[]): FunctionNode {
    const attributes = this.allowed(anyAttributes, functionAttributes, 'a function')
    this.next()
    const at = this.peek.at
    const name = this.identifier()
    const parameters = this.list('(', ')', () => this.#typedName(ioAttributes, 'a parameter'))
    this.#limited(at, `the function '${name}'`, parameters.length, 'parameters', maximumParameters)
    let returnType: NameNode | undefined
    let returnAttributes: AttributeNode[] = []
    if (this.accept('->')) {
      returnAttributes = this.attributes(ioAttributes, 'the result of a function')
      returnType = this.type()
    }
    const bodySeverity = this.severity("a function's body")
    const block = this.nestedStatement(() => parseBlock(this))
    const body: BlockNode = { ...block, subgroupUniformity: bodySeverity }
    const subgroupUniformity = severityOf(anyAttributes)
    return {
      kind: 'function',
      name,
      attributes,
      parameters,
      returnType,
      returnAttributes,
      body,
      subgroupUniformity,
      at,
    }
  }
}
