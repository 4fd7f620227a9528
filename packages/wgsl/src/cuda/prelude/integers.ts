import { type Fragment, forEachSize, lift } from './fragment.ts'

/** Integer, logical and packing functions. */
export const integerFragments: readonly Fragment[] = [
  {
    provides: ['countLeadingZeros', 'countOneBits', 'countTrailingZeros', 'reverseBits'],
    source: `WGSL_FN unsigned countLeadingZeros(unsigned a) { return (unsigned)__clz((int)a); }
WGSL_FN int countLeadingZeros(int a) { return __clz(a); }
WGSL_FN unsigned countOneBits(unsigned a) { return (unsigned)__popc(a); }
WGSL_FN int countOneBits(int a) { return __popc((unsigned)a); }
WGSL_FN unsigned countTrailingZeros(unsigned a) { return a == 0u ? 32u : (unsigned)__ffs((int)a) - 1u; }
WGSL_FN int countTrailingZeros(int a) { return a == 0 ? 32 : __ffs(a) - 1; }
WGSL_FN unsigned reverseBits(unsigned a) { return __brev(a); }
WGSL_FN int reverseBits(int a) { return (int)__brev((unsigned)a); }`,
  },
  ...lift(1, 'countLeadingZeros', 'countOneBits', 'countTrailingZeros', 'reverseBits'),
  {
    provides: ['firstLeadingBit', 'firstTrailingBit'],
    source: `WGSL_FN unsigned firstLeadingBit(unsigned a) { return a == 0u ? 0xffffffffu : 31u - (unsigned)__clz((int)a); }
WGSL_FN int firstLeadingBit(int a) { return (int)firstLeadingBit((unsigned)(a < 0 ? ~a : a)); }
WGSL_FN unsigned firstTrailingBit(unsigned a) { return (unsigned)__ffs((int)a) - 1u; }
WGSL_FN int firstTrailingBit(int a) { return __ffs(a) - 1; }`,
  },
  ...lift(1, 'firstLeadingBit', 'firstTrailingBit'),
  {
    provides: ['extractBits'],
    source: `// Bits [offset, offset + count) of a; both are cut to what lies within 32 bits.
WGSL_FN unsigned extractBits(unsigned a, unsigned offset, unsigned count) {
  const unsigned o = offset < 32u ? offset : 32u, c = count < 32u - o ? count : 32u - o;
  return c == 0u ? 0u : (a << (32u - o - c)) >> (32u - c);
}
WGSL_FN int extractBits(int a, unsigned offset, unsigned count) {
  const unsigned o = offset < 32u ? offset : 32u, c = count < 32u - o ? count : 32u - o;
  return c == 0u ? 0 : (int)((unsigned)a << (32u - o - c)) >> (32u - c);
}`,
  },
  {
    provides: ['insertBits'],
    source: `WGSL_FN unsigned insertBits(unsigned a, unsigned bits, unsigned offset, unsigned count) {
  const unsigned o = offset < 32u ? offset : 32u, c = count < 32u - o ? count : 32u - o;
  if (c == 0u) return a;
  const unsigned mask = (0xffffffffu >> (32u - c)) << o;
  return (a & ~mask) | ((bits << o) & mask);
}
WGSL_FN int insertBits(int a, int bits, unsigned offset, unsigned count) { return (int)insertBits((unsigned)a, (unsigned)bits, offset, count); }`,
  },
  ...(['extractBits', 'insertBits'] as const).map((name) => ({
    provides: [`vector_${name}`],
    source: forEachSize((n, parts) => {
      const second = name === 'insertBits' ? `vec<T, ${n}> b, ` : ''
      const calls = parts((c) => `${name}(a.${c}, ${second && `b.${c}, `}offset, count)`)
      return `template <class T> WGSL_FN vec<T, ${n}> ${name}(vec<T, ${n}> a, ${second}unsigned offset, unsigned count) { return make_vec(${calls}); }`
    }),
  })),
  {
    provides: ['select'],
    source:
      'template <class T> WGSL_FN T select(T no, T yes, bool condition) { return condition ? yes : no; }',
  },
  {
    provides: ['vector_select'],
    source: forEachSize(
      (n, parts) =>
        `template <class T> WGSL_FN vec<T, ${n}> select(vec<T, ${n}> no, vec<T, ${n}> yes, vec<bool, ${n}> condition) { return vec<T, ${n}>(${parts((c) => `condition.${c} ? yes.${c} : no.${c}`)}); }`,
    ),
  },
  {
    provides: ['all', 'any'],
    source: `WGSL_FN bool all(bool a) { return a; }
WGSL_FN bool any(bool a) { return a; }`,
  },
  {
    provides: ['all', 'any'],
    when: ['vec'],
    source: `WGSL_FN bool all(const vec2b& a) { return a.x && a.y; }
WGSL_FN bool all(const vec3b& a) { return a.x && a.y && a.z; }
WGSL_FN bool all(const vec4b& a) { return a.x && a.y && a.z && a.w; }
WGSL_FN bool any(const vec2b& a) { return a.x || a.y; }
WGSL_FN bool any(const vec3b& a) { return a.x || a.y || a.z; }
WGSL_FN bool any(const vec4b& a) { return a.x || a.y || a.z || a.w; }`,
  },
  {
    provides: ['dot4U8Packed', 'dot4I8Packed'],
    ptx: true,
    source: `WGSL_FN unsigned dot4U8Packed(unsigned a, unsigned b) { unsigned r; asm("dp4a.u32.u32 %0, %1, %2, 0;" : "=r"(r) : "r"(a), "r"(b)); return r; }
WGSL_FN int dot4I8Packed(unsigned a, unsigned b) { int r; asm("dp4a.s32.s32 %0, %1, %2, 0;" : "=r"(r) : "r"(a), "r"(b)); return r; }`,
  },
  {
    provides: ['pack4x8snorm', 'pack4x8unorm', 'unpack4x8snorm', 'unpack4x8unorm'],
    source: `// Rounded down twice, so that what lies just below a half is not rounded up to it.
WGSL_FN unsigned snorm8(float a) { return (unsigned)(int)floorf(__fmaf_rd(127.0f, fminf(1.0f, fmaxf(-1.0f, a)), 0.5f)) & 0xffu; }
WGSL_FN unsigned unorm8(float a) { return (unsigned)floorf(__fmaf_rd(255.0f, fminf(1.0f, fmaxf(0.0f, a)), 0.5f)); }
WGSL_FN unsigned pack4x8snorm(const vec4f& a) { return snorm8(a.x) | snorm8(a.y) << 8 | snorm8(a.z) << 16 | snorm8(a.w) << 24; }
WGSL_FN unsigned pack4x8unorm(const vec4f& a) { return unorm8(a.x) | unorm8(a.y) << 8 | unorm8(a.z) << 16 | unorm8(a.w) << 24; }
WGSL_FN float unsnorm8(unsigned a, int shift) { return fmaxf((float)((int)(a << shift) >> 24) / 127.0f, -1.0f); }
WGSL_FN vec4f unpack4x8snorm(unsigned a) { return vec4f(unsnorm8(a, 24), unsnorm8(a, 16), unsnorm8(a, 8), unsnorm8(a, 0)); }
WGSL_FN vec4f unpack4x8unorm(unsigned a) { return vec4f((float)(a & 0xffu) / 255.0f, (float)(a >> 8 & 0xffu) / 255.0f, (float)(a >> 16 & 0xffu) / 255.0f, (float)(a >> 24) / 255.0f); }`,
  },
  {
    provides: ['pack2x16snorm', 'pack2x16unorm', 'unpack2x16snorm', 'unpack2x16unorm'],
    source: `// Rounded down twice, so that what lies just below a half is not rounded up to it.
WGSL_FN unsigned snorm16(float a) { return (unsigned)(int)floorf(__fmaf_rd(32767.0f, fminf(1.0f, fmaxf(-1.0f, a)), 0.5f)) & 0xffffu; }
WGSL_FN unsigned unorm16(float a) { return (unsigned)floorf(__fmaf_rd(65535.0f, fminf(1.0f, fmaxf(0.0f, a)), 0.5f)); }
WGSL_FN unsigned pack2x16snorm(const vec2f& a) { return snorm16(a.x) | snorm16(a.y) << 16; }
WGSL_FN unsigned pack2x16unorm(const vec2f& a) { return unorm16(a.x) | unorm16(a.y) << 16; }
WGSL_FN vec2f unpack2x16snorm(unsigned a) { return vec2f(fmaxf((float)((int)(a << 16) >> 16) / 32767.0f, -1.0f), fmaxf((float)((int)a >> 16) / 32767.0f, -1.0f)); }
WGSL_FN vec2f unpack2x16unorm(unsigned a) { return vec2f((float)(a & 0xffffu) / 65535.0f, (float)(a >> 16) / 65535.0f); }`,
  },
  {
    provides: ['pack2x16float', 'unpack2x16float'],
    source: `WGSL_FN unsigned pack2x16float(const vec2f& a) { return (unsigned)ptx_f32_to_f16(a.x) | (unsigned)ptx_f32_to_f16(a.y) << 16; }
WGSL_FN vec2f unpack2x16float(unsigned a) { return vec2f(ptx_f16_to_f32((unsigned short)(a & 0xffffu)), ptx_f16_to_f32((unsigned short)(a >> 16))); }`,
  },
  {
    provides: ['pack4xI8', 'pack4xU8', 'pack4xI8Clamp', 'pack4xU8Clamp', 'unpack4xI8', 'unpack4xU8'],
    source: `WGSL_FN unsigned pack4xU8(const vec4u& a) { return (a.x & 0xffu) | (a.y & 0xffu) << 8 | (a.z & 0xffu) << 16 | a.w << 24; }
WGSL_FN unsigned pack4xI8(const vec4i& a) { return pack4xU8(vec4u((unsigned)a.x, (unsigned)a.y, (unsigned)a.z, (unsigned)a.w)); }
WGSL_FN unsigned clamp_u8(unsigned a) { return a > 255u ? 255u : a; }
WGSL_FN int clamp_i8(int a) { return a > 127 ? 127 : a < -128 ? -128 : a; }
WGSL_FN unsigned pack4xU8Clamp(const vec4u& a) { return pack4xU8(vec4u(clamp_u8(a.x), clamp_u8(a.y), clamp_u8(a.z), clamp_u8(a.w))); }
WGSL_FN unsigned pack4xI8Clamp(const vec4i& a) { return pack4xI8(vec4i(clamp_i8(a.x), clamp_i8(a.y), clamp_i8(a.z), clamp_i8(a.w))); }
WGSL_FN vec4i unpack4xI8(unsigned a) { return vec4i((int)(a << 24) >> 24, (int)(a << 16) >> 24, (int)(a << 8) >> 24, (int)a >> 24); }
WGSL_FN vec4u unpack4xU8(unsigned a) { return vec4u(a & 0xffu, a >> 8 & 0xffu, a >> 16 & 0xffu, a >> 24); }`,
  },
]
