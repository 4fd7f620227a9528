import {
  automaticSuffixes,
  type Binding,
  type ReflectedMember,
  type ReflectedType,
  type Reflection,
} from '../reflect.ts'

const arrays = { f32: 'Float32Array', i32: 'Int32Array', u32: 'Uint32Array' } as const

/** One member of the type of a kernel's arguments. */
export interface ArgumentLine {
  readonly name: string
  readonly type: string
  /** Whether Tandem fills in the member if a dispatch omits it. */
  readonly optional: boolean
  /** The WGSL declaration. */
  readonly comment: string
}

/**
 * The arguments of a dispatch of this kernel as TypeScript members; the types use names of
 * `@tandem-gpu/core`.
 */
export function argumentLines({ bindings }: Reflection): ArgumentLine[] {
  const storage = bindings.filter(({ space }) => space === 'storage')
  const uniform = bindings.filter(({ space }) => space === 'uniform').flatMap(uniformMembers)
  const names = new Set(uniform.map(({ name }) => name))
  const isAutomatic = ({ name, type }: { name: string; type: ReflectedType }) => {
    const [, family, what] = /^(.+)_([a-z]+)$/.exec(name) ?? []
    const counts = type.kind === 'scalar' && (type.scalar === 'u32' || type.scalar === 'i32')
    if (!counts || what === undefined || !automaticSuffixes.some((suffix) => suffix === what)) return false
    return storage.some((binding) => binding.name === family) || names.has(`${family}_base`)
  }
  return [
    ...storage.map(({ name, type, access }) => ({
      name,
      type: `BufferView<${elementTypes(type)}>`,
      optional: false,
      comment: `${type.name}, ${access}`,
    })),
    ...uniform.map((member) => ({
      name: member.name,
      type: uniformType(member.type),
      optional: isAutomatic(member),
      comment: member.type.name,
    })),
  ]
}

/** The element types of buffers that a storage binding accepts; bytes are bound as words. */
function elementTypes({ scalar }: ReflectedType): string {
  if (scalar === 'mixed') return "'u32'"
  return scalar === 'u32' ? "'u32' | 'u8' | 'i8'" : `'${scalar}'`
}

function uniformMembers({ name, type, members }: Binding): { name: string; type: ReflectedType }[] {
  return members?.map((member) => ({ name: member.name, type: typeOf(member) })) ?? [{ name, type }]
}

const typeOf = (member: ReflectedMember): ReflectedType => ({ ...member, name: member.type })

/** The types of structures by their members. */
const structureTypes = new WeakMap<readonly ReflectedMember[], string>()

/** Structures that contain others many times have short declarations and long types. */
const longestStructureType = 4_000

function structureType(members: readonly ReflectedMember[]): string {
  const texts = members.map(
    (member) => `readonly ${propertyName(member.name)}: ${uniformType(typeOf(member))}`,
  )
  return `{ ${texts.join('; ')} }`
}

/** The TypeScript type of the values that a uniform member accepts. */
function uniformType(type: ReflectedType): string {
  const numbers = `readonly number[]${type.scalar in arrays ? ` | ${arrays[type.scalar as 'f32']}` : ''}`
  switch (type.kind) {
    case 'scalar':
      return type.scalar === 'f16' ? 'number' : 'number | Parameter'
    case 'vector':
      return `${numbers.replace('number[]', `[${Array(type.components).fill('number').join(', ')}]`)}${type.scalar === 'f16' ? '' : ' | Parameter'}`
    case 'matrix':
      return `${numbers} | readonly (readonly number[])[]`
    case 'array': {
      const element = type.element!
      if (element.kind === 'scalar') return `readonly (${uniformType(element)})[] | ${numbers}`
      const each = `readonly (${uniformType(element)})[]`
      return element.kind === 'vector' ? `${numbers} | ${each}` : each
    }
    default: {
      const members = type.members!
      const text = structureTypes.get(members) ?? structureType(members)
      structureTypes.set(members, text)
      return text.length > longestStructureType ? 'object' : text
    }
  }
}

/**
 * A property name, quoted if necessary: WGSL names may contain letters that not every TypeScript version
 * accepts without quotes.
 */
export function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
}
