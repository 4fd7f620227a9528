import { type Fragment, forEachSize } from './fragment.ts'

const lifted = (count: 1 | 2 | 3): string => {
  const types = ['A', 'B', 'C'].slice(0, count)
  const names = ['a', 'b', 'c'].slice(0, count)
  const header = `template <${types.map((t) => `class ${t}`).join(', ')}> WGSL_FN auto f`
  const definitions = forEachSize((n, parts) => {
    const parameters = names.map((name, i) => `vec<${types[i]}, ${n}> ${name}`).join(', ')
    return `  ${header}(${parameters}) { return make_vec(${parts((c) => `f(${names.map((name) => `${name}.${c}`).join(', ')})`)}); }`
  })
  return `#define WGSL_LIFT${count}(f) \\\n${definitions.replaceAll('\n', ' \\\n')}`
}

const operator = (symbol: string, call: string): string =>
  forEachSize((n, parts) => {
    const define = (template: string, a: string, left: string, b: string, right: string) =>
      `template <${template}> WGSL_FN auto operator${symbol}(${a} a, ${b} b) { return make_vec(${parts((c) => `${call}(${left.replace('$', c)}, ${right.replace('$', c)})`)}); }`
    const vector = `vec<T, ${n}>`
    return [
      define('class A, class B', `vec<A, ${n}>`, 'a.$', `vec<B, ${n}>`, 'b.$'),
      ...('+-*/%'.includes(symbol)
        ? [define('class T', vector, 'a.$', 'T', 'b'), define('class T', 'T', 'a', vector, 'b.$')]
        : []),
    ].join('\n')
  })

const unaryOperator = (symbol: string, call: string): string =>
  forEachSize(
    (n, parts) =>
      `template <class T> WGSL_FN auto operator${symbol}(vec<T, ${n}> a) { return make_vec(${parts((c) => `${call}(a.${c})`)}); }`,
  )

/**
 * Vectors: values and memory share one layout, which is WGSL's (a vec3 has 12 bytes; `slot` adds the padding
 * in arrays).
 */
export const vectorFragments: readonly Fragment[] = [
  {
    provides: ['WGSL_CTOR'],
    source: `#define WGSL_CTOR __host__ __device__ __forceinline__ constexpr`,
  },
  {
    provides: [
      'vec',
      'slot',
      'make_vec',
      ...[2, 3, 4].flatMap((n) => ['f', 'i', 'u', 'b'].map((s) => `vec${n}${s}`)),
    ],
    source: `template <class T, int N> struct vec;
template <class T> struct alignas(2 * sizeof(T)) vec<T, 2> {
  T x, y;
  vec() = default;
  explicit WGSL_CTOR vec(T s) : x(s), y(s) {}
  WGSL_CTOR vec(T x, T y) : x(x), y(y) {}
};
template <class T> struct vec<T, 3> {
  T x, y, z;
  vec() = default;
  explicit WGSL_CTOR vec(T s) : x(s), y(s), z(s) {}
  WGSL_CTOR vec(T x, T y, T z) : x(x), y(y), z(z) {}
  WGSL_CTOR vec(vec<T, 2> a, T z) : x(a.x), y(a.y), z(z) {}
  WGSL_CTOR vec(T x, vec<T, 2> a) : x(x), y(a.x), z(a.y) {}
};
template <class T> struct alignas(4 * sizeof(T)) vec<T, 4> {
  T x, y, z, w;
  vec() = default;
  explicit WGSL_CTOR vec(T s) : x(s), y(s), z(s), w(s) {}
  WGSL_CTOR vec(T x, T y, T z, T w) : x(x), y(y), z(z), w(w) {}
  WGSL_CTOR vec(vec<T, 2> a, T z, T w) : x(a.x), y(a.y), z(z), w(w) {}
  WGSL_CTOR vec(T x, vec<T, 2> a, T w) : x(x), y(a.x), z(a.y), w(w) {}
  WGSL_CTOR vec(T x, T y, vec<T, 2> a) : x(x), y(y), z(a.x), w(a.y) {}
  WGSL_CTOR vec(vec<T, 2> a, vec<T, 2> b) : x(a.x), y(a.y), z(b.x), w(b.y) {}
  WGSL_CTOR vec(vec<T, 3> a, T w) : x(a.x), y(a.y), z(a.z), w(w) {}
  WGSL_CTOR vec(T x, vec<T, 3> a) : x(x), y(a.x), z(a.y), w(a.z) {}
};
// A vec3 as an element of an array or a column of a matrix: 12 bytes in a stride of 16.
template <class T> struct alignas(4 * sizeof(T)) slot { vec<T, 3> value; };
template <class T> WGSL_FN vec<T, 2> make_vec(T x, T y) { return vec<T, 2>(x, y); }
template <class T> WGSL_FN vec<T, 3> make_vec(T x, T y, T z) { return vec<T, 3>(x, y, z); }
template <class T> WGSL_FN vec<T, 4> make_vec(T x, T y, T z, T w) { return vec<T, 4>(x, y, z, w); }
typedef vec<float, 2> vec2f; typedef vec<float, 3> vec3f; typedef vec<float, 4> vec4f;
typedef vec<int, 2> vec2i; typedef vec<int, 3> vec3i; typedef vec<int, 4> vec4i;
typedef vec<unsigned, 2> vec2u; typedef vec<unsigned, 3> vec3u; typedef vec<unsigned, 4> vec4u;
typedef vec<bool, 2> vec2b; typedef vec<bool, 3> vec3b; typedef vec<bool, 4> vec4b;`,
  },
  ...([1, 2, 3] as const).map((n) => ({ provides: [`WGSL_LIFT${n}`], source: lifted(n) })),
  {
    provides: ['vec2h', 'vec3h', 'vec4h'],
    source: 'typedef vec<f16, 2> vec2h; typedef vec<f16, 3> vec3h; typedef vec<f16, 4> vec4h;',
  },
  ...(
    [
      ['+', 'add'],
      ['-', 'sub'],
      ['*', 'mul'],
      ['/', 'div'],
      ['%', 'rem'],
      ['<<', 'shl'],
      ['>>', 'shr'],
      ['&', 'bit_and'],
      ['|', 'bit_or'],
      ['^', 'bit_xor'],
      ['==', 'equal'],
      ['!=', 'not_equal'],
      ['<', 'less'],
      ['<=', 'less_equal'],
      ['>', 'greater'],
      ['>=', 'greater_equal'],
    ] as const
  ).map(([symbol, call]) => ({
    provides: [`vector_operator_${call}`],
    source: operator(symbol, call),
  })),
  ...(
    [
      ['-', 'neg'],
      ['~', 'bit_not'],
      ['!', 'logical_not'],
    ] as const
  ).map(([symbol, call]) => ({
    provides: [`vector_operator_${call}`],
    source: unaryOperator(symbol, call),
  })),
  {
    provides: ['component', 'set_component'],
    source: `// A component of a vector value chosen at run time: selects, so that the vector stays in registers.
template <class T> WGSL_FN T component(const vec<T, 2>& v, unsigned i) { return i == 0u ? v.x : v.y; }
template <class T> WGSL_FN T component(const vec<T, 3>& v, unsigned i) { return i == 0u ? v.x : i == 1u ? v.y : v.z; }
template <class T> WGSL_FN T component(const vec<T, 4>& v, unsigned i) { return i < 2u ? (i == 0u ? v.x : v.y) : (i == 2u ? v.z : v.w); }
template <class T> WGSL_FN void set_component(vec<T, 2>& v, unsigned i, T s) { if (i == 0u) v.x = s; else v.y = s; }
template <class T> WGSL_FN void set_component(vec<T, 3>& v, unsigned i, T s) { v.x = i == 0u ? s : v.x; v.y = i == 1u ? s : v.y; v.z = i >= 2u ? s : v.z; }
template <class T> WGSL_FN void set_component(vec<T, 4>& v, unsigned i, T s) { v.x = i == 0u ? s : v.x; v.y = i == 1u ? s : v.y; v.z = i == 2u ? s : v.z; v.w = i >= 3u ? s : v.w; }`,
  },
  {
    provides: ['array', 'element', 'element_at'],
    source: `// For sm_100, nvcc 13.0 takes the distance of two elements with one index for the same, even if their sizes differ, as in
// a[i][0] and a[0][i]. So composites, in which others may have their index, are at distances in bytes.
#if __CUDA_ARCH__ >= 1000
template <class T> WGSL_CTOR T& element_at(T* from, unsigned i) { return __is_constructible(T, int) ? from[i] : *(T*)((char*)from + i * (unsigned long long)sizeof(T)); }
#else
#define element_at(from, i) (from)[i]
#endif
template <class T> struct element { typedef T type; static WGSL_CTOR T& of(T& e) { return e; } static WGSL_CTOR const T& of(const T& e) { return e; } };
template <class T, unsigned N> struct array {
  typename element<T>::type data[N];
  WGSL_CTOR T& operator[](unsigned i) { return element<T>::of(element_at(data, i)); }
  WGSL_CTOR const T& operator[](unsigned i) const { return element<T>::of(element_at(data, i)); }
};`,
  },
  {
    provides: ['element'],
    when: ['vec'],
    source: `template <class T> struct element<vec<T, 3>> { typedef slot<T> type; static WGSL_CTOR vec<T, 3>& of(slot<T>& e) { return e.value; } static WGSL_CTOR const vec<T, 3>& of(const slot<T>& e) { return e.value; } };`,
  },
]
