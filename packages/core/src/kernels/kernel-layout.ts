import {
  automaticSuffixes,
  type Binding,
  type ReflectedScalar,
  type ReflectedType,
  type Reflection,
} from '@tandem-gpu/wgsl'
import { invalid } from '../errors.ts'

/** A storage binding, with what recording needs to know about it. */
export interface StorageSlot extends Binding {
  readonly scalar: ReflectedScalar
  /** Bytes of one array element; views must begin and step by multiples of it. */
  readonly strideByteLength: number
  /** Whether a uniform member receives the offset of the view in the bound range. */
  readonly hasBase: boolean
}

export interface UniformSlot {
  readonly name: string
  readonly group: number
  readonly binding: number
  readonly byteLength: number
  readonly members: readonly UniformMember[]
}

/**
 * A member of a structure, or a uniform variable that is not a structure, which counts as one member with its
 * own name.
 */
interface Member {
  readonly name: string
  readonly byteOffset: number
  readonly type: ReflectedType
}

export interface UniformMember extends Member {
  /**
   * The value that core fills in if the caller omits the member; `absent` means 0, for a binding that this
   * variant of the kernel does not declare.
   */
  readonly auto: AutomaticValue | 'absent' | undefined
}

export interface AutomaticValue {
  /** Position in `KernelLayout.storage`. */
  readonly storage: number
  readonly what: (typeof automaticSuffixes)[number]
}

/** The arguments of a kernel, derived once from its reflection. */
export interface KernelLayout {
  readonly storage: readonly StorageSlot[]
  readonly uniforms: readonly UniformSlot[]
  /** The names of all possible arguments of a dispatch. */
  readonly argumentNames: ReadonlySet<string>
}

export function kernelLayout(reflection: Reflection): KernelLayout {
  const storageBindings = reflection.bindings.filter((b) => b.space === 'storage')
  const uniformBindings = reflection.bindings.filter((b) => b.space === 'uniform')
  const automatic = new Map<string, AutomaticValue>()
  for (const [storage, { name }] of storageBindings.entries())
    for (const what of automaticSuffixes) automatic.set(`${name}_${what}`, { storage, what })

  const memberNames = new Set(
    uniformBindings.flatMap((binding) => membersOf(binding).map(({ name }) => name)),
  )
  /**
   * Variants of one source share a structure: `x_base` and the other members may belong to a binding of
   * another variant.
   */
  const absent = (name: string) => {
    const [, family, what] = /^(.+)_([a-z]+)$/.exec(name) ?? []
    return automaticSuffixes.some((suffix) => suffix === what) && memberNames.has(`${family}_base`)
  }
  const uniforms = uniformBindings.map(
    (binding): UniformSlot => ({
      name: binding.name,
      group: binding.group,
      binding: binding.binding,
      byteLength: binding.minByteLength,
      members: membersOf(binding).map((member) => ({
        ...member,
        auto: isCount(member.type)
          ? (automatic.get(member.name) ?? (absent(member.name) ? 'absent' : undefined))
          : undefined,
      })),
    }),
  )
  requireDistinctNames(storageBindings, uniforms)
  const storage = storageBindings.map(
    (binding): StorageSlot => ({
      ...binding,
      scalar: binding.type.scalar,
      strideByteLength: binding.type.stride ?? (binding.type.scalar === 'f16' ? 2 : 4),
      hasBase: memberNames.has(`${binding.name}_base`),
    }),
  )
  return { storage, uniforms, argumentNames: new Set([...storage.map((slot) => slot.name), ...memberNames]) }
}

/**
 * Arguments are identified only by name, so uniforms must not share a member name with one another or with a
 * storage buffer. Throws `validation`.
 */
function requireDistinctNames(storage: readonly Binding[], uniforms: readonly UniformSlot[]): void {
  const owners = new Map(storage.map(({ name }) => [name, 'a storage buffer']))
  for (const uniform of uniforms)
    for (const { name } of uniform.members) {
      const owner = owners.get(name)
      if (owner !== undefined)
        throw invalid(
          `The uniform ${uniform.name} and ${owner} both have an argument ${name}; arguments are passed by name, so rename one of them.`,
        )
      owners.set(name, `the uniform ${uniform.name}`)
    }
}

function membersOf({ name, type, members }: Binding): Member[] {
  if (members === undefined) return [{ name, byteOffset: 0, type }]
  return members.map((member) => ({
    name: member.name,
    byteOffset: member.offset,
    type: { ...member, name: member.type },
  }))
}

const isCount = ({ kind, scalar }: ReflectedType) =>
  kind === 'scalar' && (scalar === 'u32' || scalar === 'i32')
