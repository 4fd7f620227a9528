import { type Fragment, forEachSize } from './fragment.ts'

const dot = (n: number): string => {
  const parts = ['x', 'y', 'z', 'w'].slice(0, n)
  const sum = parts.map((c) => `mul(a.${c}, b.${c})`).reduce((s, p) => `add(${s}, ${p})`)
  return `template <class T> WGSL_FN T dot(const vec<T, ${n}>& a, vec<T, ${n}> b) { return ${sum}; }`
}

/** Functions of vectors as geometric objects. */
export const geometryFragments: readonly Fragment[] = [
  { provides: ['dot'], source: [2, 3, 4].map(dot).join('\n') },
  {
    provides: ['cross'],
    source: `template <class T> WGSL_FN vec<T, 3> cross(vec<T, 3> a, vec<T, 3> b) { return vec<T, 3>(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x); }`,
  },
  {
    provides: ['length', 'distance', 'normalize'],
    needs: ['vector_operator_sub', 'vector_operator_mul'],
    source: `WGSL_FN float length(float a) { return fabsf(a); }
template <int N> WGSL_FN float length(const vec<float, N>& a) { return ptx_sqrt(dot(a, a)); }
WGSL_FN float distance(float a, float b) { return fabsf(a - b); }
template <int N> WGSL_FN float distance(const vec<float, N>& a, vec<float, N> b) { return length(a - b); }
template <int N> WGSL_FN vec<float, N> normalize(vec<float, N> a) { return a * ptx_rsqrt(dot(a, a)); }`,
  },
  {
    provides: ['length', 'distance', 'normalize'],
    when: ['f16'],
    source: `WGSL_FN f16 length(f16 a) { return f16(fabsf((float)a)); }
template <int N> WGSL_FN f16 length(vec<f16, N> a) { return f16(length(convert<float>(a))); }
WGSL_FN f16 distance(f16 a, f16 b) { return length(a - b); }
template <int N> WGSL_FN f16 distance(vec<f16, N> a, vec<f16, N> b) { return length(a - b); }
template <int N> WGSL_FN vec<f16, N> normalize(vec<f16, N> a) { return convert<f16>(normalize(convert<float>(a))); }`,
  },
  {
    provides: ['faceForward', 'reflect', 'refract'],
    needs: ['vector_operator_sub', 'vector_operator_mul', 'vector_operator_neg'],
    source: `template <class T, int N> WGSL_FN vec<T, N> faceForward(vec<T, N> a, vec<T, N> b, vec<T, N> c) { return dot(b, c) < T(0.0f) ? a : -a; }
template <class T, int N> WGSL_FN vec<T, N> reflect(vec<T, N> a, vec<T, N> b) { return a - b * (T(2.0f) * dot(b, a)); }
template <class T, int N> WGSL_FN vec<T, N> refract(vec<T, N> a, vec<T, N> b, T ratio) {
  const T cosine = dot(b, a);
  const T k = T(1.0f) - ratio * ratio * (T(1.0f) - cosine * cosine);
  return k < T(0.0f) ? vec<T, N>(T(0.0f)) : a * ratio - b * (ratio * cosine + sqrt(k));
}`,
  },
  {
    provides: ['mat'],
    needs: ['vector_operator_add', 'vector_operator_sub', 'vector_operator_mul'],
    source: `// C columns of R rows; columns of three rows have a stride of four.
template <class T, int C, int R> struct mat {
  typename element<vec<T, R>>::type column[C];
  mat() = default;
  template <class... Rest> WGSL_CTOR mat(vec<T, R> first, Rest... rest) : column{{first}, {rest}...} {}
  WGSL_CTOR vec<T, R>& operator[](unsigned i) { return element<vec<T, R>>::of(column[i]); }
  WGSL_CTOR const vec<T, R>& operator[](unsigned i) const { return element<vec<T, R>>::of(column[i]); }
};
template <class T, int C, int R> WGSL_FN mat<T, C, R> operator+(mat<T, C, R> a, mat<T, C, R> b) { for (int i = 0; i < C; i++) a[i] = a[i] + b[i]; return a; }
template <class T, int C, int R> WGSL_FN mat<T, C, R> operator-(mat<T, C, R> a, mat<T, C, R> b) { for (int i = 0; i < C; i++) a[i] = a[i] - b[i]; return a; }
template <class T, int C, int R> WGSL_FN mat<T, C, R> operator*(mat<T, C, R> a, T b) { for (int i = 0; i < C; i++) a[i] = a[i] * b; return a; }
template <class T, int C, int R> WGSL_FN mat<T, C, R> operator*(T a, mat<T, C, R> b) { return b * a; }
template <class T, int C, int R> WGSL_FN vec<T, R> operator*(mat<T, C, R> a, vec<T, C> b) {
  vec<T, R> sum = a[0] * b.x + a[1] * b.y;
  if constexpr (C > 2) sum = sum + a[2] * b.z;
  if constexpr (C > 3) sum = sum + a[3] * b.w;
  return sum;
}
template <class T, int C, int R> WGSL_FN vec<T, C> operator*(vec<T, R> a, mat<T, C, R> b) {
  if constexpr (C == 2) return vec<T, C>(dot(a, b[0]), dot(a, b[1]));
  else if constexpr (C == 3) return vec<T, C>(dot(a, b[0]), dot(a, b[1]), dot(a, b[2]));
  else return vec<T, C>(dot(a, b[0]), dot(a, b[1]), dot(a, b[2]), dot(a, b[3]));
}
template <class T, int K, int C, int R> WGSL_FN mat<T, C, R> operator*(mat<T, K, R> a, mat<T, C, K> b) { mat<T, C, R> r; for (int i = 0; i < C; i++) r[i] = a * b[i]; return r; }`,
  },
  {
    provides: ['transpose'],
    source: `template <class T, int C, int R> WGSL_FN mat<T, R, C> transpose(mat<T, C, R> a) {
  mat<T, R, C> r{};
  for (int i = 0; i < R; i++) for (int j = 0; j < C; j++) set_component(r[i], j, component(a[j], i));
  return r;
}`,
  },
  {
    provides: ['determinant'],
    source: `template <class T> WGSL_FN T determinant3(const vec<T, 3>& a, vec<T, 3> b, vec<T, 3> c) { return a.x * (b.y * c.z - c.y * b.z) - b.x * (a.y * c.z - c.y * a.z) + c.x * (a.y * b.z - b.y * a.z); }
template <class T> WGSL_FN T determinant(const mat<T, 2, 2>& a) { return a[0].x * a[1].y - a[1].x * a[0].y; }
template <class T> WGSL_FN T determinant(const mat<T, 3, 3>& a) { return determinant3(a[0], a[1], a[2]); }
template <class T> WGSL_FN T determinant(const mat<T, 4, 4>& a) {
  const vec<T, 3> p(a[0].y, a[0].z, a[0].w), q(a[1].y, a[1].z, a[1].w), r(a[2].y, a[2].z, a[2].w), s(a[3].y, a[3].z, a[3].w);
  return a[0].x * determinant3(q, r, s) - a[1].x * determinant3(p, r, s) + a[2].x * determinant3(p, q, s) - a[3].x * determinant3(p, q, r);
}`,
  },
  {
    provides: ['convert'],
    when: ['vec'],
    source: forEachSize(
      (n, parts) =>
        `template <class To, class From> WGSL_FN vec<To, ${n}> convert(vec<From, ${n}> a) { return vec<To, ${n}>(${parts((c) => `convert<To>(a.${c})`)}); }`,
    ),
  },
  {
    provides: ['convert'],
    when: ['mat'],
    source:
      'template <class To, class From, int C, int R> WGSL_FN mat<To, C, R> convert(mat<From, C, R> a) { mat<To, C, R> r; for (int i = 0; i < C; i++) r[i] = convert<To>(a[i]); return r; }',
  },
]
