import type { Fragment } from './fragment.ts'

/** Components of 32 bits, and their C++ types. */
const wide = [
  ['f32', 'float'],
  ['i32', 'int'],
] as const

/**
 * Matrices of 16 x 16 that the 32 lanes of a subgroup hold together, in the order of the operands of
 * `mma.sync.m16n8k16` (PTX ISA, section "Matrix Fragments for mma.m16n8k16"): two adjacent products make one
 * of 16 columns. Factors of i8 are 16 x 32 and 32 x 16 ("Matrix Fragments for mma.m16n8k32"). `element` is
 * the size of an array element in bytes, the unit of offset and stride; `columns` says that memory is in
 * column-major order, and `shared` that it is workgroup memory.
 */
export const subgroupMatrixFragments: readonly Fragment[] = [
  {
    provides: ['matrix_f16'],
    source: `// Two components in each word. Role 0 is a left factor, 1 a right one, 2 a result.
template <int role> struct matrix_f16 {
  unsigned r[4];
  // The first component of word i: the second is in the next column, of a right factor in the next row.
  static __device__ __forceinline__ unsigned row(unsigned i) { return role == 1 ? lane_index() % 4u * 2u + i % 2u * 8u : lane_index() / 4u + i % 2u * 8u; }
  static __device__ __forceinline__ unsigned column(unsigned i) { return role == 1 ? lane_index() / 4u + i / 2u * 8u : lane_index() % 4u * 2u + i / 2u * 8u; }
};`,
  },
  {
    provides: ['matrix_i8'],
    source: `// Four components in each word. Role 0 is a left factor, 1 a right one.
template <int role> struct matrix_i8 {
  unsigned r[4];
  // The first component of word i: the others are in the next columns, of a right factor in the next rows.
  static __device__ __forceinline__ unsigned row(unsigned i) { return role == 1 ? lane_index() % 4u * 4u + i % 2u * 16u : lane_index() / 4u + i % 2u * 8u; }
  static __device__ __forceinline__ unsigned column(unsigned i) { return role == 1 ? lane_index() / 4u + i / 2u * 8u : lane_index() % 4u * 4u + i / 2u * 16u; }
};`,
  },
  ...wide.map(
    ([component, type]): Fragment => ({
      provides: [`matrix_${component}`],
      source: `struct matrix_${component} {
  ${type} c[8];
  // Component 2 * i; the next one is in the next column.
  static __device__ __forceinline__ unsigned row(unsigned i) { return lane_index() / 4u + i % 2u * 8u; }
  static __device__ __forceinline__ unsigned column(unsigned i) { return lane_index() % 4u * 2u + i / 2u * 8u; }
};`,
    }),
  ),
  {
    provides: ['matrix_inside'],
    source: `// Does a matrix of rows or columns of 'slice' bytes lie in an array of so many bytes?
template <unsigned slices, unsigned slice, unsigned element> WGSL_FN bool matrix_inside(unsigned long long bytes, unsigned offset, unsigned stride) {
  return ((unsigned long long)offset + (slices - 1ull) * stride) * element + slice <= bytes;
}`,
  },
  {
    provides: ['matrix_in_view'],
    needs: ['trap_view'],
    source: `// Does every slice of a matrix lie in the view? 'from' is where the array begins in the binding.
template <unsigned slices, unsigned slice, unsigned element> WGSL_FN bool matrix_in_view(const trap_view& view, unsigned long long from, unsigned offset, unsigned stride) {
  for (unsigned i = 0; i < slices; i++)
    if (!view.access(from + ((unsigned long long)offset + (unsigned long long)i * stride) * element, slice, offset + i * stride)) return false;
  return true;
}`,
  },
  {
    provides: ['load_matrix_words'],
    ptx: true,
    source: `// Four blocks of 8 x 8 halves from workgroup memory whose rows begin at multiples of 16 bytes: those below each other first.
template <bool transposed> WGSL_FN void load_matrix_words(unsigned (&r)[4], const void* from, unsigned stride_bytes) {
  const unsigned lane = lane_index();
  const unsigned at = (unsigned)__cvta_generic_to_shared(from) + lane % 16u * stride_bytes + lane / 16u * 16u;
  if (transposed) asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
  else asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}`,
  },
  {
    provides: ['subgroupMatrixLoad'],
    source: `template <class M> struct matrix_access;`,
  },
  {
    provides: ['subgroupMatrixLoad'],
    when: ['matrix_f16'],
    source: `template <int role> struct matrix_access<matrix_f16<role>> {
  template <bool columns, unsigned element, bool shared> static __device__ __forceinline__ matrix_f16<role> load(const char* from, unsigned long long stride) {
    typedef matrix_f16<role> M;
    M m;
    if constexpr (shared && element % 16u == 0u) {
      load_matrix_words<(role == 1) != columns>(m.r, from, (unsigned)stride);
      if (columns) { const unsigned middle = m.r[1]; m.r[1] = m.r[2]; m.r[2] = middle; }
    } else {
      _Pragma("unroll") for (unsigned i = 0; i < 4u; i++) {
        const unsigned row = M::row(i), column = M::column(i);
        const char* const at = from + (columns ? column * stride + row * 2u : row * stride + column * 2u);
        if (columns == (role == 1) && element % 4u == 0u) m.r[i] = *reinterpret_cast<const unsigned*>(at);
        else m.r[i] = *reinterpret_cast<const unsigned short*>(at) | (unsigned)*reinterpret_cast<const unsigned short*>(at + (columns == (role == 1) ? 2ull : stride)) << 16;
      }
    }
    return m;
  }
};`,
  },
  {
    provides: ['subgroupMatrixLoad'],
    when: ['matrix_i8'],
    source: `template <int role> struct matrix_access<matrix_i8<role>> {
  template <bool columns, unsigned element, bool shared> static __device__ __forceinline__ matrix_i8<role> load(const char* from, unsigned long long stride) {
    typedef matrix_i8<role> M;
    M m;
    if constexpr (shared && element % 16u == 0u && columns == (role == 1)) {
      load_matrix_words<false>(m.r, from, (unsigned)stride);
      if (columns) { const unsigned middle = m.r[1]; m.r[1] = m.r[2]; m.r[2] = middle; }
    } else {
      _Pragma("unroll") for (unsigned i = 0; i < 4u; i++) {
        const unsigned row = M::row(i), column = M::column(i);
        const char* const at = from + (columns ? column * stride + row : row * stride + column);
        if (columns == (role == 1) && element % 4u == 0u) m.r[i] = *reinterpret_cast<const unsigned*>(at);
        else {
          m.r[i] = 0u;
          _Pragma("unroll") for (unsigned b = 0; b < 4u; b++) m.r[i] |= (unsigned)(unsigned char)at[b * (columns == (role == 1) ? 1ull : stride)] << b * 8u;
        }
      }
    }
    return m;
  }
};`,
  },
  ...wide.map(
    ([component, type]): Fragment => ({
      provides: ['subgroupMatrixLoad'],
      when: [`matrix_${component}`],
      source: `template <> struct matrix_access<matrix_${component}> {
  template <bool columns, unsigned element, bool shared> static __device__ __forceinline__ matrix_${component} load(const char* from, unsigned long long stride) {
    matrix_${component} m;
    _Pragma("unroll") for (unsigned i = 0; i < 4u; i++) {
      const unsigned row = matrix_${component}::row(i), column = matrix_${component}::column(i);
      const char* const at = from + (columns ? column * stride + row * 4u : row * stride + column * 4u);
      m.c[2u * i] = *reinterpret_cast<const ${type}*>(at);
      m.c[2u * i + 1u] = *reinterpret_cast<const ${type}*>(at + (columns ? stride : 4ull));
    }
    return m;
  }
};`,
    }),
  ),
  {
    provides: ['subgroupMatrixLoad'],
    source: `template <class M, bool columns, unsigned element, bool shared> WGSL_FN M subgroupMatrixLoad(const void* array, unsigned offset, unsigned stride) {
  if (shared) return matrix_access<M>::template load<columns, element, shared>(static_cast<const char*>(array) + offset * element, stride * element);
  return matrix_access<M>::template load<columns, element, shared>(static_cast<const char*>(array) + (unsigned long long)offset * element, (unsigned long long)stride * element);
}`,
  },
  {
    provides: ['swizzled'],
    source: `// Where element i of an array lies that is laid out swizzled, in rows of so many elements of 16 bytes: rows beside each other begin in different banks.
template <unsigned row> WGSL_FN unsigned swizzled(unsigned i) { return i ^ (i / (row < 8u ? 8u : row) & ((row < 8u ? row : 8u) - 1u)); }`,
  },
  {
    provides: ['load_swizzled_words'],
    ptx: true,
    needs: ['swizzled'],
    source: `// Like 'load_matrix_words', from an array that is laid out swizzled; 'kept' is a multiple of eight rows, and of 64 elements.
template <bool transposed, unsigned row> WGSL_FN void load_swizzled_words(unsigned (&r)[4], const void* array, unsigned moved, unsigned kept) {
  const unsigned lane = lane_index();
  const unsigned at = (unsigned)__cvta_generic_to_shared(array) + (swizzled<row>(moved + lane % 16u * row + lane / 16u % 2u) + kept) * 16u;
  if (transposed) asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
  else asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}`,
  },
  {
    provides: ['subgroupMatrixLoadSwizzled'],
    needs: ['matrix_f16'],
    source: `template <class M> struct swizzled_access;
template <int role> struct swizzled_access<matrix_f16<role>> {
  template <bool columns, unsigned row> static __device__ __forceinline__ matrix_f16<role> load(const void* array, unsigned moved, unsigned kept) {
    matrix_f16<role> m;
    load_swizzled_words<(role == 1) != columns, row>(m.r, array, moved, kept);
    if (columns) { const unsigned middle = m.r[1]; m.r[1] = m.r[2]; m.r[2] = middle; }
    return m;
  }
};
template <class M, bool columns, unsigned row> WGSL_FN M subgroupMatrixLoadSwizzled(const void* array, unsigned moved, unsigned kept) { return swizzled_access<M>::template load<columns, row>(array, moved, kept); }`,
  },
  {
    provides: ['subgroupMatrixStore'],
    when: ['matrix_f16'],
    source: `template <bool columns, unsigned element, int role> WGSL_FN void store_matrix(char* to, const matrix_f16<role>& m, unsigned long long stride) {
  typedef matrix_f16<role> M;
  _Pragma("unroll") for (unsigned i = 0; i < 4u; i++) {
    const unsigned row = M::row(i), column = M::column(i);
    char* const at = to + (columns ? column * stride + row * 2u : row * stride + column * 2u);
    if (columns == (role == 1) && element % 4u == 0u) *reinterpret_cast<unsigned*>(at) = m.r[i];
    else {
      *reinterpret_cast<unsigned short*>(at) = (unsigned short)m.r[i];
      *reinterpret_cast<unsigned short*>(at + (columns == (role == 1) ? 2ull : stride)) = (unsigned short)(m.r[i] >> 16);
    }
  }
}`,
  },
  {
    provides: ['subgroupMatrixStore'],
    when: ['matrix_i8'],
    source: `template <bool columns, unsigned element, int role> WGSL_FN void store_matrix(char* to, const matrix_i8<role>& m, unsigned long long stride) {
  typedef matrix_i8<role> M;
  _Pragma("unroll") for (unsigned i = 0; i < 4u; i++) {
    const unsigned row = M::row(i), column = M::column(i);
    char* const at = to + (columns ? column * stride + row : row * stride + column);
    if (columns == (role == 1) && element % 4u == 0u) *reinterpret_cast<unsigned*>(at) = m.r[i];
    else _Pragma("unroll") for (unsigned b = 0; b < 4u; b++) at[b * (columns == (role == 1) ? 1ull : stride)] = (char)(m.r[i] >> b * 8u);
  }
}`,
  },
  ...wide.map(
    ([component, type]): Fragment => ({
      provides: ['subgroupMatrixStore'],
      when: [`matrix_${component}`],
      source: `template <bool columns, unsigned element> WGSL_FN void store_matrix(char* to, const matrix_${component}& m, unsigned long long stride) {
  struct alignas(8) pair { ${type} first, second; };
  _Pragma("unroll") for (unsigned i = 0; i < 4u; i++) {
    const unsigned row = matrix_${component}::row(i), column = matrix_${component}::column(i);
    char* const at = to + (columns ? column * stride + row * 4u : row * stride + column * 4u);
    if (!columns && element % 8u == 0u) *reinterpret_cast<pair*>(at) = pair{m.c[2u * i], m.c[2u * i + 1u]};
    else {
      *reinterpret_cast<${type}*>(at) = m.c[2u * i];
      *reinterpret_cast<${type}*>(at + (columns ? stride : 4ull)) = m.c[2u * i + 1u];
    }
  }
}`,
    }),
  ),
  {
    provides: ['subgroupMatrixStore'],
    source: `template <bool columns, unsigned element, bool shared, class M> WGSL_FN void subgroupMatrixStore(void* array, unsigned offset, const M& m, unsigned stride) {
  if (shared) store_matrix<columns, element>(static_cast<char*>(array) + offset * element, m, stride * element);
  else store_matrix<columns, element>(static_cast<char*>(array) + (unsigned long long)offset * element, m, (unsigned long long)stride * element);
}`,
  },
  {
    provides: ['multiply_matrices_f32'],
    ptx: true,
    source: `// Adds the product of 16 x 16 and 16 x 8 halves to c; the order of the sums, and how they round, are the tensor core's.
WGSL_FN void multiply_matrices_f32(float (&d)[8], unsigned half, const unsigned (&a)[4], unsigned b0, unsigned b1, const float (&c)[8]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};" : "=f"(d[half]), "=f"(d[half + 1u]), "=f"(d[half + 2u]), "=f"(d[half + 3u]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(c[half]), "f"(c[half + 1u]), "f"(c[half + 2u]), "f"(c[half + 3u]));
}`,
  },
  {
    provides: ['multiply_matrices_f16'],
    ptx: true,
    source: `WGSL_FN void multiply_matrices_f16(unsigned (&d)[4], unsigned half, const unsigned (&a)[4], unsigned b0, unsigned b1, const unsigned (&c)[4]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};" : "=r"(d[half]), "=r"(d[half + 1u]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(c[half]), "r"(c[half + 1u]));
}`,
  },
  {
    provides: ['multiply_matrices_i32'],
    ptx: true,
    source: `// Adds the product of 16 x 32 and 32 x 8 bytes with signs to c, modulo 2^32.
WGSL_FN void multiply_matrices_i32(int (&d)[8], unsigned half, const unsigned (&a)[4], unsigned b0, unsigned b1, const int (&c)[8]) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};" : "=r"(d[half]), "=r"(d[half + 1u]), "=r"(d[half + 2u]), "=r"(d[half + 3u]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(c[half]), "r"(c[half + 1u]), "r"(c[half + 2u]), "r"(c[half + 3u]));
}`,
  },
  {
    provides: ['subgroupMatrixMultiplyAccumulate', 'subgroupMatrixMultiply'],
    when: ['matrix_i32', 'matrix_i8'],
    source: `WGSL_FN matrix_i32 subgroupMatrixMultiplyAccumulate(const matrix_i8<0>& a, const matrix_i8<1>& b, const matrix_i32& c) {
  matrix_i32 d;
  multiply_matrices_i32(d.c, 0u, a.r, b.r[0], b.r[1], c.c);
  multiply_matrices_i32(d.c, 4u, a.r, b.r[2], b.r[3], c.c);
  return d;
}`,
  },
  {
    provides: ['subgroupMatrixMultiplyAccumulate', 'subgroupMatrixMultiply'],
    when: ['matrix_f32', 'matrix_f16'],
    source: `WGSL_FN matrix_f32 subgroupMatrixMultiplyAccumulate(const matrix_f16<0>& a, const matrix_f16<1>& b, const matrix_f32& c) {
  matrix_f32 d;
  multiply_matrices_f32(d.c, 0u, a.r, b.r[0], b.r[1], c.c);
  multiply_matrices_f32(d.c, 4u, a.r, b.r[2], b.r[3], c.c);
  return d;
}`,
  },
  {
    provides: ['multiply_into_f16'],
    when: ['matrix_f16'],
    source: `WGSL_FN matrix_f16<2> subgroupMatrixMultiplyAccumulate(const matrix_f16<0>& a, const matrix_f16<1>& b, const matrix_f16<2>& c) {
  matrix_f16<2> d;
  multiply_matrices_f16(d.r, 0u, a.r, b.r[0], b.r[1], c.r);
  multiply_matrices_f16(d.r, 2u, a.r, b.r[2], b.r[3], c.r);
  return d;
}`,
  },
  {
    provides: ['subgroupMatrixMultiply'],
    source: `template <class M, class A, class B> WGSL_FN M subgroupMatrixMultiply(const A& a, const B& b) { return subgroupMatrixMultiplyAccumulate(a, b, M{}); }`,
  },
  {
    provides: ['subgroupMatrixFill'],
    when: ['matrix_f16'],
    needs: ['f16'],
    source: `template <int role> WGSL_FN void fill_matrix(matrix_f16<role>& m, f16 value) { _Pragma("unroll") for (unsigned i = 0; i < 4u; i++) m.r[i] = value.bits * 0x10001u; }`,
  },
  {
    provides: ['subgroupMatrixFill'],
    when: ['matrix_i8'],
    source: `template <int role> WGSL_FN void fill_matrix(matrix_i8<role>& m, int value) { _Pragma("unroll") for (unsigned i = 0; i < 4u; i++) m.r[i] = (value & 255) * 0x1010101u; }`,
  },
  ...wide.map(
    ([component, type]): Fragment => ({
      provides: ['subgroupMatrixFill'],
      when: [`matrix_${component}`],
      source: `WGSL_FN void fill_matrix(matrix_${component}& m, ${type} value) { _Pragma("unroll") for (unsigned i = 0; i < 8u; i++) m.c[i] = value; }`,
    }),
  ),
  {
    provides: ['subgroupMatrixFill'],
    source: `template <class M, class T> WGSL_FN M subgroupMatrixFill(T value) {
  M m;
  fill_matrix(m, value);
  return m;
}`,
  },
  ...(
    [
      ['Add', 'add'],
      ['Subtract', 'sub'],
      ['Multiply', 'mul'],
    ] as const
  ).flatMap(([name, operation]): Fragment[] => [
    {
      provides: [`subgroupMatrixScalar${name}`],
      when: ['matrix_f16'],
      needs: ['f16'],
      source: `template <int role> WGSL_FN matrix_f16<role> subgroupMatrixScalar${name}(const matrix_f16<role>& a, f16 b) {
  matrix_f16<role> m;
  _Pragma("unroll") for (unsigned i = 0; i < 4u; i++)
    m.r[i] = ${operation}(f16_bits((unsigned short)a.r[i]), b).bits | (unsigned)${operation}(f16_bits((unsigned short)(a.r[i] >> 16)), b).bits << 16;
  return m;
}`,
    },
    {
      provides: [`subgroupMatrixScalar${name}`],
      when: ['matrix_i8'],
      source: `template <int role> WGSL_FN matrix_i8<role> subgroupMatrixScalar${name}(const matrix_i8<role>& a, int b) {
  matrix_i8<role> m;
  _Pragma("unroll") for (unsigned i = 0; i < 4u; i++) {
    m.r[i] = 0u;
    _Pragma("unroll") for (unsigned j = 0; j < 4u; j++) m.r[i] |= (unsigned)(${operation}((int)(a.r[i] >> j * 8u), b) & 255) << j * 8u;
  }
  return m;
}`,
    },
    ...wide.map(
      ([component, type]): Fragment => ({
        provides: [`subgroupMatrixScalar${name}`],
        when: [`matrix_${component}`],
        source: `WGSL_FN matrix_${component} subgroupMatrixScalar${name}(const matrix_${component}& a, ${type} b) {
  matrix_${component} m;
  _Pragma("unroll") for (unsigned i = 0; i < 8u; i++) m.c[i] = ${operation}(a.c[i], b);
  return m;
}`,
      }),
    ),
  ]),
]
