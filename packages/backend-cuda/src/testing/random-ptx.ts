/** A condition of a random kernel, and the literals that are stored where it holds and where it does not. */
export interface RandomCondition {
  readonly predicate: string
  readonly markers: readonly [number, number]
}

export interface RandomPtx {
  readonly text: string
  readonly conditions: readonly RandomCondition[]
}

type Kind = 'bits' | 'half' | 'wide' | 'float' | 'predicate'

const prefixes: Readonly<Record<Kind, string>> = {
  bits: '%r',
  half: '%rs',
  wide: '%rd',
  float: '%f',
  predicate: '%p',
}
const masks = [1, 2, 3, 6, 7, 12, 15, 31, 63, 255, 254, 0xff00, 0xffff, -0x10000, 0x7fffffff, -0x80000000, -2]
const literals = [
  0, 1, 2, 3, 7, 8, 31, 32, 127, 255, 256, 0x7fff, 0xffff, 0x7fffffff, -0x80000000, -1, -2, 1000,
]
/** 0, 1, -1, 0.5, 2, 9, -9 and infinity */
const floats = [
  ...['0f00000000', '0f3F800000', '0fBF800000', '0f3F000000', '0f40000000', '0f41100000', '0fC1100000'],
  '0f7F800000',
]
const shifts = [1, 2, 3, 4, 7, 8, 12, 15, 16, 17, 24, 28, 30, 31]
const specials = [
  '%laneid',
  '%tid.x',
  '%tid.y',
  '%ctaid.x',
  '%nctaid.y',
  '%ntid.x',
  '%lanemask_lt',
  '%tid.z',
  '%smid',
]

/**
 * PTX with random operations, of which each takes results of the last ones, and with conditions on single bits, ranges and equality.
 * Loops are marked like those of the translator.
 */
export function randomPtx(
  seed: number,
  architecture: string,
  operations: number,
  conditions: number,
): RandomPtx {
  const random = xorshift(seed)
  const below = (count: number) => random() % count
  const one = <T>(list: readonly T[]): T => list[below(list.length)]!
  const values: Record<Kind, string[]> = {
    bits: ['%r1', '%r2', '%r3', '%r4', '%r5'],
    half: ['%rs1'],
    wide: ['%rd10'],
    float: ['%f1'],
    predicate: ['%p1'],
  }
  let names = 100
  const lines: string[] = []
  const fresh = (kind: Kind) => `${prefixes[kind]}${names++}`
  const use = (kind: Kind): string => {
    const all = values[kind]
    return all[Math.max(0, all.length - 1 - below(random() % 3 === 0 ? all.length : 4))]!
  }
  const [r, h, d, f, p] = (['bits', 'half', 'wide', 'float', 'predicate'] as const).map(
    (kind) => () => use(kind),
  ) as [() => string, () => string, () => string, () => string, () => string]
  const literal = () => (below(3) === 0 ? random() | 0 : one(literals))
  const mask = () => one(masks)
  const float = () => one(floats)
  const twice = (operand: string) => [operand, operand] as const
  const shift = () => one(shifts)
  /** A register or a literal. */
  const rl = () => (below(3) === 0 ? String(literal()) : r())
  const sign = () => one(['u', 's'])
  const put = (kind: Kind, ...parts: [string, ...(string | number)[]]) => {
    const [name, ...operands] = parts
    const result = fresh(kind)
    lines.push(`${name} ${[result, ...operands].join(', ')};`)
    values[kind].push(result)
  }
  const field = () => {
    const at = below(32)
    return [at, 1 + below(32 - at)] as const
  }
  const joined = (kind: 'bits', statements: (result: string) => readonly string[]) => {
    const result = fresh(kind)
    lines.push(...statements(result))
    values[kind].push(result)
  }
  const forms: (() => void)[] = [
    () => put('bits', 'and.b32', r(), mask()),
    () => put('bits', 'and.b32', r(), mask()),
    () => put('bits', 'or.b32', r(), mask()),
    () => put('bits', one(['and.b32', 'or.b32', 'xor.b32']), r(), rl()),
    () => put('bits', 'not.b32', r()),
    () => put('bits', 'lop3.b32', r(), r(), rl(), below(256)),
    () => put('bits', one(['shl.b32', 'shr.u32', 'shr.s32']), r(), shift()),
    () => put('bits', one(['shl.b32', 'shr.u32', 'shr.s32']), rl(), r()),
    () => put('bits', `shf.${one(['l', 'r'])}.${one(['wrap', 'clamp'])}.b32`, r(), rl(), shift()),
    () => put('bits', one(['add.s32', 'sub.s32', 'mul.lo.s32', 'mul.hi.u32', 'mul.hi.s32']), r(), rl()),
    () => put('bits', 'sub.s32', literal(), r()),
    () => put('bits', 'mad.lo.s32', r(), rl(), rl()),
    () => put('bits', `${one(['min', 'max'])}.${sign()}32`, r(), rl()),
    () => put('bits', 'neg.s32', r()),
    () => put('bits', one(['popc.b32', 'clz.b32', 'brev.b32', 'bfind.u32', 'bfind.shiftamt.s32']), r()),
    () => put('bits', `bfe.${sign()}32`, r(), ...field()),
    () => put('bits', 'bfi.b32', r(), rl(), ...field()),
    () => put('bits', 'prmt.b32', r(), rl(), below(65536)),
    () => put('bits', 'selp.b32', rl(), rl(), p()),
    () => put('bits', 'slct.s32.s32', rl(), rl(), r()),
    () => put('bits', one(['div.u32', 'rem.u32']), r(), one([3, 7, 10, 16, 100, 255])),
    () => put('bits', `sad.${sign()}32`, r(), r(), rl()),
    () => put('bits', 'dp4a.u32.u32', r(), rl(), rl()),
    () => put('predicate', `setp.${one(['lt', 'gt', 'le', 'ge', 'eq', 'ne'])}.${sign()}32`, r(), rl()),
    () =>
      put(
        'predicate',
        `setp.${one(['lt', 'gt', 'eq', 'ne'])}.${one(['and', 'or', 'xor'])}.s32`,
        r(),
        rl(),
        `!${p()}`,
      ),
    () => put('predicate', one(['and.pred', 'or.pred', 'xor.pred']), p(), p()),
    () => put('predicate', 'not.pred', p()),
    () => put('half', 'cvt.u16.u32', r()),
    () => put('bits', one(['cvt.u32.u16', 'cvt.s32.s16', 'cvt.u32.u8', 'cvt.s32.s8']), h()),
    () =>
      put(
        'half',
        one(['add.s16', 'mul.lo.s16', 'and.b16', 'or.b16', 'xor.b16', 'min.s16', 'max.u16']),
        h(),
        h(),
      ),
    () => put('half', one(['shl.b16', 'shr.u16', 'shr.s16']), h(), one([1, 3, 7, 8, 12])),
    () =>
      put('predicate', `setp.${one(['lt', 'gt', 'eq', 'ne'])}.${sign()}16`, h(), one([0, 1, 100, 255, 3000])),
    () => put('bits', 'mov.b32', `{${h()}, ${h()}}`),
    () => put('wide', one(['cvt.u64.u32', 'cvt.s64.s32']), r()),
    () => put('wide', `mul.wide.${sign()}32`, r(), rl()),
    () => put('wide', 'mov.b64', `{${r()}, ${r()}}`),
    () =>
      put(
        'wide',
        one(['add.s64', 'sub.s64', 'and.b64', 'or.b64', 'xor.b64', 'min.u64', 'max.s64']),
        d(),
        d(),
      ),
    () => put('wide', one(['shl.b64', 'shr.u64', 'shr.s64']), d(), one([1, 4, 16, 31, 32, 33, 48, 63])),
    () => put('bits', 'cvt.u32.u64', d()),
    () => put('predicate', `setp.${one(['lt', 'gt', 'eq', 'ne'])}.${sign()}64`, d(), d()),
    () => put('float', `cvt.rn.f32.${sign()}32`, r()),
    () =>
      put(
        'float',
        one([
          ...['abs.f32', 'neg.f32', 'cvt.sat.f32.f32', 'cvt.rmi.f32.f32', 'ex2.approx.ftz.f32'],
          ...['cos.approx.f32', 'sin.approx.f32', 'tanh.approx.f32', 'sqrt.approx.f32'],
        ]),
        f(),
      ),
    () =>
      put(
        'float',
        one(['add.f32', 'sub.f32', 'mul.f32', 'min.f32', 'max.f32']),
        f(),
        one([f(), f(), float()]),
      ),
    () => put('float', one(['mul.f32', 'add.sat.f32']), ...twice(f())),
    () => put('float', 'selp.f32', one([f(), float()]), float(), p()),
    () => put('float', 'fma.rn.f32', f(), f(), one([f(), float()])),
    () => put('float', 'mov.b32', r()),
    () => put('bits', 'mov.b32', f()),
    () => put('bits', `cvt.rzi.${sign()}32.f32`, f()),
    () =>
      put('predicate', `setp.${one(['lt', 'gt', 'eq', 'neu', 'ltu'])}.f32`, f(), one([f(), '0f00000000'])),
    () => put('bits', `shfl.sync.${one(['bfly', 'down', 'idx'])}.b32`, r(), below(31), 31, -1),
    () => put('bits', 'vote.sync.ballot.b32', p(), -1),
    () => put('predicate', `vote.sync.${one(['any', 'all'])}.pred`, p(), -1),
    () => put('bits', `redux.sync.${one(['or.b32', 'and.b32', 'min.u32', 'max.s32', 'add.s32'])}`, r(), -1),
    () => put('bits', 'mov.u32', one(specials)),
    () =>
      put(
        'bits',
        one(['ld.global.u16', 'ld.global.s8', 'ld.global.nc.u32', 'ld.global.u32']),
        `[%rd4+${4 * below(4)}]`,
      ),
    () => put('bits', one(['shfl.sync.idx.b32', 'shfl.sync.up.b32']), r(), r(), 31, -1),
    // A register that two branches set.
    () =>
      joined('bits', (result) => {
        const label = `$L${names++}`
        return [
          `mov.b32 ${result}, ${rl()};`,
          `@${p()} bra ${label};`,
          `mov.b32 ${result}, ${rl()};`,
          `${label}:`,
        ]
      }),
    // A register that a loop changes.
    () =>
      joined('bits', (result) => {
        const [label, counter, term, again] = [
          `$L${names++}`,
          fresh('bits'),
          fresh('bits'),
          fresh('predicate'),
        ]
        const operation = one(['min.u32', 'or.b32', 'and.b32', 'add.s32', 'xor.b32', 'max.s32'])
        return [
          `mov.b32 ${result}, ${rl()};`,
          `mov.u32 ${counter}, 0;`,
          `${label}:`,
          '.pragma "nounroll";',
          `${one(['and.b32', 'or.b32', 'mul.lo.s32'])} ${term}, ${one([r(), counter])}, ${mask()};`,
          `${operation} ${result}, ${result}, ${term};`,
          `add.s32 ${counter}, ${counter}, ${one([1, 2, 4])};`,
          `setp.lt.u32 ${again}, ${counter}, ${one(['20', '%r4'])};`,
          `@${again} bra ${label};`,
        ]
      }),
  ]
  for (let i = 0; i < operations; i++) one(forms)()
  const found: RandomCondition[] = []
  for (let i = 0; i < conditions; i++) {
    const predicate = fresh('predicate')
    const kind = below(9)
    if (kind < 5) {
      const bit = below(3) === 0 ? mask() : (1 << below(32)) | 0
      const part = fresh('bits')
      lines.push(
        `and.b32 ${part}, ${r()}, ${bit};`,
        `setp.${one(['eq', 'ne'])}.s32 ${predicate}, ${part}, ${one([0, bit])};`,
      )
    } else if (kind === 5)
      lines.push(`setp.${one(['lt', 'gt'])}.${sign()}32 ${predicate}, ${r()}, ${literal()};`)
    else if (kind === 6) lines.push(`setp.${one(['lt', 'eq', 'ne'])}.u32 ${predicate}, ${r()}, ${r()};`)
    else if (kind === 7) lines.push(`setp.${one(['lt', 'eq'])}.${sign()}64 ${predicate}, ${d()}, ${d()};`)
    else {
      const operator = one(['lt', 'gt', 'le', 'ge', 'eq', 'neu', 'ltu', 'gtu'])
      lines.push(`setp.${operator}.f32 ${predicate}, ${f()}, ${one([float(), float(), f()])};`)
    }
    // Not a number as two halves, so that no instruction for halves gives it.
    const markers = [0x7e010000 + i, 0x7f030000 + i] as const
    lines.push(`@${predicate} st.global.u32 [%rd3+${8 * i}], ${markers[0]};`)
    lines.push(`@!${predicate} st.global.u32 [%rd3+${8 * i + 4}], ${markers[1]};`)
    found.push({ predicate, markers })
  }
  const text = `.version 8.8
.target ${architecture}
.address_size 64
.visible .entry k(.param .u64 p0, .param .u64 p1)
.maxntid 64, 1, 1
{
.reg .pred %p<${names}>;
.reg .b32 %r<${names}>;
.reg .b16 %rs<${names}>;
.reg .f32 %f<${names}>;
.reg .b64 %rd<${names}>;
ld.param.u64 %rd1, [p0];
ld.param.u64 %rd2, [p1];
mov.u32 %r9, %tid.x;
mul.wide.u32 %rd5, %r9, 4096;
add.s64 %rd3, %rd2, %rd5;
add.s64 %rd4, %rd1, %rd5;
${[1, 2, 3, 4, 5].map((i) => `ld.global.u32 %r${i}, [%rd4+${256 * i}];`).join('\n')}
ld.global.u64 %rd10, [%rd4+2048];
ld.global.f32 %f1, [%rd4+3072];
cvt.u16.u32 %rs1, %r1;
setp.lt.s32 %p1, %r2, %r3;
${lines.join('\n')}
ret;
}
`
  return { text, conditions: found }
}

function xorshift(seed: number): () => number {
  let state = (Math.imul(seed + 1, 2654435761) >>> 0) | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state
  }
}
