import { Random } from './random.ts'

/** Pieces of a source, in order: words, numbers, operators, blanks and comments. */
function pieces(source: string): string[] {
  return source.match(/\/\/[^\n]*|\s+|[\w.]+|<<=|>>=|[-+*/%&|^=!<>]=|&&|\|\||->|\+\+|--|<<|>>|[^\w\s]/g) ?? []
}

/**
 * Pieces that mutations insert into a source: everything that the grammar or the rules for constants treat
 * specially.
 */
const insertions =
  `fn let var const override struct alias enable requires diagnostic const_assert if else switch case default loop
  continuing break continue return discard while for true false _ a f x S main out id i32 u32 f32 f16 bool vec2 vec3f vec4u mat2x2f
  array atomic ptr buffer function private workgroup storage uniform read read_write write @compute @workgroup_size @group @binding
  @align @size @id @must_use @builtin @diagnostic @subgroup_size @location @vertex @fragment ( ) { } [ ] < > ; , : . = == != <= >= + -
  * / % & | ^ ! ~ && || ++ -- -> << >> += -= *= /= %= &= |= ^= <<= >>= @ 0 1 -1 2 4 31 32 64 255 65535 65536 2147483647 -2147483648
  2147483648 4294967295u 4294967296 9223372036854775807 0u 1u 1i 0.0 1.5 1e38 1e39f 65504h 65505h 0x1p-149 1e-50 0x7fffffff xyz xyzw
  rgba x y array<u32> array<f32,4> vec2<bool> atomic<u32> ptr<function,u32> workgroupBarrier() storageBarrier() select min max clamp
  abs dot cross bitcast extractBits insertBits ldexp smoothstep arrayLength atomicAdd atomicLoad normalize pack2x16float refract frexp
  modf transpose determinant length workgroupUniformLoad sign pow log sqrt acos global_invocation_id
  local_invocation_index num_workgroups`.split(/\s+/)

/** Unusual characters, and those that end lines. */
const oddities = [
  '\0',
  '\ufeff',
  '\u2028',
  '\u0085',
  '\ud800',
  '\udc00',
  'é',
  '𝒙',
  '"',
  '$',
  '#',
  '`',
  '\\',
  '\u00a0',
  '\v',
  '\r',
]

const operators = [
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
const numbers = insertions.filter((part) => /^-?\d/.test(part))
const keywords =
  /^(fn|let|var|const|override|struct|alias|enable|requires|diagnostic|const_assert|if|else|switch|case|default|loop|continuing|break|continue|return|discard|while|for|compute|group|binding|workgroup_size|builtin|storage)$/
const isName = (part: string) => /^[a-z_]\w*$/i.test(part) && !keywords.test(part)
const names = insertions.filter(isName)

/** A source made from others by one or two random changes; the same seed produces the same source. */
export function mutatedSource(seed: number, corpus: readonly string[]): string {
  const random = new Random(seed)
  const parts = pieces(random.pick(corpus))
  const changes = 1 + random.below(2)
  for (let i = 0; i < changes; i++) {
    if (random.oneIn(6)) breakSyntax(random, parts, corpus)
    else replaceOne(random, parts, corpus)
  }
  return parts.join('')
}

/**
 * Replaces a piece with another of its kind, or a statement with another statement, so that the syntax
 * usually remains valid.
 */
function replaceOne(random: Random, parts: string[], corpus: readonly string[]): void {
  const positions = (fits: (part: string) => boolean) => parts.flatMap((part, i) => (fits(part) ? [i] : []))
  const replace = (fits: (part: string) => boolean, by: (words: number[]) => string) => {
    const places = positions(fits)
    if (places.length > 0) parts[random.pick(places)] = by(places)
  }
  const choice = random.below(5)
  if (choice === 0)
    replace(
      (part) => /^\d/.test(part),
      () => random.pick(numbers),
    )
  else if (choice === 1) replace(isName, (places) => parts[random.pick(places)]!)
  else if (choice === 2) replace(isName, () => random.pick(names))
  else if (choice === 3)
    replace(
      (part) => operators.includes(part),
      () => random.pick(operators),
    )
  else {
    const other = random.oneIn(2) ? parts : pieces(random.pick(corpus))
    const start = other.indexOf(';', random.below(other.length))
    const end = other.indexOf(';', start + 1)
    const ends = positions((part) => part === ';')
    if (start < 0 || end < 0 || ends.length === 0) return
    parts.splice(random.pick(ends) + 1, 0, ...other.slice(start + 1, end + 1))
  }
}

/** Changes pieces of any kind. */
function breakSyntax(random: Random, parts: string[], corpus: readonly string[]): void {
  const at = random.below(parts.length + 1)
  const length = 1 + random.below(random.oneIn(4) ? 30 : 3)
  switch (random.below(6)) {
    case 0:
      parts.splice(at, length)
      return
    case 1:
      parts.splice(at, 0, ...parts.slice(at, at + length))
      return
    case 2:
      parts.splice(at, 1, random.pick(insertions))
      return
    case 3:
      parts.splice(at, 0, ' ', random.oneIn(8) ? random.pick(oddities) : random.pick(insertions), ' ')
      return
    case 4: {
      const other = random.oneIn(2) ? parts : pieces(random.pick(corpus))
      const from = random.below(other.length + 1)
      parts.splice(at, random.oneIn(2) ? length : 0, ...other.slice(from, from + length))
      return
    }
    default: {
      const [a, b] = [random.below(parts.length), random.below(parts.length)]
      const moved = parts[a]!
      parts[a] = parts[b]!
      parts[b] = moved
    }
  }
}
