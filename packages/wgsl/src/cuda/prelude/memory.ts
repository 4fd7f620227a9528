import type { Fragment } from './fragment.ts'

const atomicTypes = ['int', 'unsigned'] as const

/** If `%p` is true, the kernel must end. A launch that nothing stops has no word, and waits for no load. */
const loadsWord = [
  '.reg .u32 %w;',
  '.reg .pred %p;',
  'setp.ne.u64 %p, %0, 0;',
  'mov.u32 %w, 0;',
  '@%p ld.volatile.u32 %w, [%0];',
  'setp.ne.u32 %p, %w, 0;',
]

/**
 * The same for the four words of a stop word (`CudaOptions.stoppable`). Once per millisecond, one invocation
 * of a GPU also reads the host's word and passes it on. It is the first active invocation of its subgroup,
 * and among those the one whose exchange of the time succeeds.
 */
const fetchesWord = [
  '.reg .u32 %w, %t, %x, %y, %n, %m, %b;',
  '.reg .u64 %h;',
  '.reg .pred %p, %q;',
  'ld.volatile.v4.u32 {%w, %t, %x, %y}, [%0];',
  'mov.u32 %n, %globaltimer_lo;',
  'sub.u32 %m, %n, %t;',
  'setp.gt.u32 %q, %m, 1000000;',
  'activemask.b32 %m;',
  'mov.u32 %b, %lanemask_lt;',
  'and.b32 %m, %m, %b;',
  'setp.eq.and.u32 %q, %m, 0, %q;',
  '@%q atom.cas.b32 %m, [%0+4], %t, %n;',
  'setp.eq.and.u32 %q, %m, %t, %q;',
  'mov.b64 %h, {%x, %y};',
  '@%q ld.volatile.u32 %w, [%h];',
  'setp.ne.u32 %p, %w, 0;',
  'setp.ne.and.u32 %q, %w, 0, %q;',
  '@%q st.volatile.u32 [%0], %w;',
]

/**
 * A function that reads the stop word and executes `then`, in one piece of PTX, so that no branch divides the
 * surrounding code.
 */
function lookText(
  name: string,
  comment: string | undefined,
  then: readonly string[],
  first: readonly string[] = fetchesWord,
): string {
  const text = `{ ${[...first, ...then].join(' ')} }`.replace(/%(?!0)/g, '%%')
  return `${comment === undefined ? '' : `// ${comment}\n`}WGSL_FN void ${name}(const unsigned* word) { asm volatile("${text}" :: "l"(word)); }`
}

/** Access to bound memory, atomics, barriers and the reports of trap mode. */
export const memoryFragments: readonly Fragment[] = [
  {
    provides: ['array_length'],
    source: `// Elements of a runtime-sized array that starts at 'offset' in a binding.
WGSL_FN unsigned array_length(unsigned long long bytes, unsigned offset, unsigned stride) {
  const unsigned long long rest = bytes < offset ? 0ull : bytes - offset;
  unsigned elements = (unsigned)(rest >> 32) >= stride ? 0xffffffffu : (unsigned)(rest / stride);
  asm("" : "+r"(elements));  // computed once, not again at each use
  return elements;
}`,
  },
  {
    provides: ['tail'],
    source: `// The runtime-sized array at the end of a structure.
template <class T> WGSL_FN T* tail(void* base, unsigned offset) { return reinterpret_cast<T*>(static_cast<char*>(base) + offset); }
template <class T> WGSL_FN const T* tail(const void* base, unsigned offset) { return reinterpret_cast<const T*>(static_cast<const char*>(base) + offset); }`,
  },
  {
    provides: ['store_padded'],
    source: `// Stores leave the bytes between members alone: composites with such bytes are stored part by part.
template <class T> WGSL_FN auto store_part(T& to, const T& value, int) -> decltype(value.store_to(to)) { value.store_to(to); }
template <class T> WGSL_FN void store_part(T& to, const T& value, long) { to = value; }
template <class T> WGSL_FN void store_padded(T& to, const T& value);`,
  },
  {
    provides: ['store_padded'],
    when: ['array'],
    source: `template <class T, unsigned N> WGSL_FN void store_part(array<T, N>& to, const array<T, N>& value, int) { _Pragma("unroll (N <= 16u ? N : 1u)") for (unsigned i = 0; i < N; i++) store_padded(to[i], value[i]); }`,
  },
  {
    provides: ['store_padded'],
    when: ['mat'],
    source: `template <class T, int C, int R> WGSL_FN void store_part(mat<T, C, R>& to, const mat<T, C, R>& value, int) { for (unsigned i = 0; i < C; i++) store_padded(to[i], value[i]); }`,
  },
  {
    provides: ['store_padded'],
    source: `template <class T> WGSL_FN void store_padded(T& to, const T& value) { store_part(to, value, 0); }`,
  },
  {
    provides: ['load_uniform'],
    ptx: true,
    source: `// A uniform buffer's value: the 16-byte chunks that are used, loaded here and now.
template <unsigned chunks, class T> WGSL_FN T load_uniform(const T* from) {
  unsigned words[sizeof(T) / 4u];
  const unsigned* const at = reinterpret_cast<const unsigned*>(from);
  _Pragma("unroll") for (unsigned i = 0; i < sizeof(T) / 16u; i++)
    if (chunks >> i & 1u) asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(words[4u * i]), "=r"(words[4u * i + 1u]), "=r"(words[4u * i + 2u]), "=r"(words[4u * i + 3u]) : "l"(at + 4u * i));
  if (chunks >> sizeof(T) / 16u & 1u)
    _Pragma("unroll") for (unsigned i = sizeof(T) / 16u * 4u; i < sizeof(T) / 4u; i++) asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(words[i]) : "l"(at + i));
  T value;
  memcpy(&value, words, sizeof(T));
  return value;
}`,
  },
  {
    provides: ['async_copy', 'async_wait'],
    ptx: true,
    source: `// Copies 16 bytes from global to workgroup memory past the registers; they are there after 'async_wait'.
template <class T> WGSL_FN void async_copy(T& to, const T& from) {
  static_assert(sizeof(T) == 16, "size of the copy");
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"((unsigned)__cvta_generic_to_shared(&to)), "l"(&from));
#else
  to = from;
#endif
}
WGSL_FN void async_wait() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}`,
  },
  {
    provides: ['async_commit', 'async_wait_before'],
    ptx: true,
    source: `// Ends a group of copies.
WGSL_FN void async_commit() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
// Waits for the copies before the last so many groups.
template <unsigned groups> WGSL_FN void async_wait_before() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" :: "n"(groups) : "memory");
#endif
}`,
  },
  {
    provides: ['hidden'],
    source: `// A number that nvcc knows nothing of. If it knows that views of a buffer with elements of different sizes begin at one place, it
// takes, for sm_100 and newer, parts of elements with one index for each other.
WGSL_FN unsigned hidden(unsigned value) { asm volatile("" : "+r"(value)); return value; }`,
  },
  {
    provides: ['component_of'],
    source: `// A component of a vector in memory, chosen at run time.
template <class V> WGSL_FN auto& component_of(V& v, unsigned i) {
#if __CUDA_ARCH__ >= 1000
  // In loops, nvcc takes components with indices of which it knows something for others than they are.
  asm volatile("" : "+r"(i));
#endif
  return reinterpret_cast<decltype(&v.x)>(&v)[i];
}`,
  },
  {
    provides: ['hidden_element_at'],
    source: `// An element of an array with structures in it. Before sm_100, nvcc takes accesses that begin at different
// members of structures of one type for accesses to different places, even if it has joined one of several members.
template <class A> WGSL_FN auto& hidden_element_at(A&& a, unsigned i) {
  unsigned long long offset = (unsigned long long)i * sizeof(a[0u]);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 1000
  asm("" : "+l"(offset));
#endif
  return *(decltype(&a[0u]))((char*)&a[0u] + offset);
}`,
  },
  {
    provides: ['KEPT_LOOP'],
    source: `// C++ may assume that a loop without side effects ends; WGSL gives endless loops a meaning. And where a loop compares its
// counter with what stays the same, nvcc 13.0 exchanges != and ==, for others who use the result too, to split the loop.
// For sm_100, it leaves branches around nothing otherwise, on which ptxas 13.0 crashes.
#if __CUDA_ARCH__ >= 1000
#define KEPT_LOOP { unsigned unused; asm volatile("mov.u32 %0, 0;" : "=r"(unused)); }
#else
#define KEPT_LOOP asm volatile("");
#endif`,
  },
  {
    provides: ['MEMORY_CHANGES'],
    source: `// Copies of memory are complete here: nvcc 13.0 leaves out a copy between overlapping views, and then reads what it wrote.
#define MEMORY_CHANGES asm volatile("" ::: "memory");`,
  },
  {
    provides: ['unknown'],
    ptx: true,
    source: `// The same value, of which neither nvcc nor ptxas knows anything: a grid has less than 65,536 rows.
WGSL_FN unsigned grid_rows() { unsigned r; asm("mov.u32 %0, %%nctaid.y;" : "=r"(r)); return r; }
WGSL_FN unsigned unknown(unsigned value) { return value ^ __umulhi(grid_rows(), grid_rows()); }
WGSL_FN bool unknown(bool value) { return value != ((grid_rows() & 65536u) != 0u); }`,
  },
  {
    provides: ['local'],
    source: `// A value of a type that no other function has: see FunctionWriter.own. Where LLVM does not tell types by their
// names, the structures before the value do, which write the function's number in binary.
template <int number, bool odd = number % 2 == 1> struct own_number { own_number<number / 2> rest; };
template <int number> struct own_number<number, true> { own_number<number / 2> rest[1]; };
template <> struct own_number<0, false> {
  unsigned word;
  __device__ __forceinline__ own_number() {}
};
template <int function, class T> struct local {
  own_number<function> before;
  T value;
};`,
  },
  {
    provides: ['unknown'],
    source: `WGSL_FN int unknown(int value) { return (int)unknown((unsigned)value); }
WGSL_FN float unknown(float value) { return __uint_as_float(unknown(__float_as_uint(value))); }`,
  },
  {
    provides: ['look'],
    ptx: true,
    source: lookText('look', 'Ends the invocation once the host has written the stop word.', ['@%p exit;']),
  },
  {
    provides: ['look_first'],
    ptx: true,
    source: lookText(
      'look_first',
      'The same where a workgroup begins, unless the word is null; the host sees to it that the word is up to date.',
      ['@%p exit;'],
      loadsWord,
    ),
  },
  {
    provides: ['look_first_together'],
    ptx: true,
    source: lookText(
      'look_first_together',
      undefined,
      ['vote.sync.any.pred %p, %p, 0xffffffff;', '@%p exit;'],
      loadsWord,
    ),
  },
  {
    provides: ['look_after_copies'],
    ptx: true,
    source: `// The same behind the asynchronous copies that are under way.
#if __CUDA_ARCH__ >= 800
${lookText('look_after_copies', undefined, ['@%p cp.async.wait_all;', '@%p exit;'])}
#else
${lookText('look_after_copies', undefined, ['@%p exit;'])}
#endif`,
  },
  {
    provides: ['look_together'],
    ptx: true,
    source: lookText('look_together', 'The same for the whole subgroup, which arrives here together.', [
      'vote.sync.any.pred %p, %p, 0xffffffff;',
      '@%p cp.async.wait_all;',
      '@%p exit;',
    ]),
  },
  {
    provides: ['look_clock', 'look_is_due'],
    ptx: true,
    source: `// Looks are far apart also where rounds are short: each waits for the word.
WGSL_FN unsigned look_clock() {
  unsigned cycles;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(cycles));
  return cycles;
}
WGSL_FN bool look_is_due(unsigned& last) {
  const unsigned now = look_clock();
  if (now - last < ${2 ** 20}u) return false;
  last = now;
  return true;
}`,
  },
  {
    provides: ['zero_workgroup'],
    source: `// Zeroes workgroup memory, spread over the threads of the block.
WGSL_FN void zero_workgroup(void* memory, unsigned bytes, unsigned thread, unsigned threads) {
  struct alignas(16) quad { unsigned w[4]; };
  quad* const quads = static_cast<quad*>(memory);
  const unsigned whole = bytes / 16u / threads * threads;
  if (whole / threads <= 16u) {
    // Written out: a loop here costs the code after it registers and order.
    _Pragma("unroll") for (unsigned i = 0; i < 16u; i++) if (i < whole / threads) quads[i * threads + thread] = quad{};
  } else {
    _Pragma("unroll 1") for (unsigned i = 0; i < whole; i += threads) quads[i + thread] = quad{};
  }
  if (thread < bytes / 16u - whole) quads[whole + thread] = quad{};
  if (thread < bytes % 16u) static_cast<unsigned char*>(memory)[bytes / 16u * 16u + thread] = 0;
}`,
  },
  {
    provides: ['zero_workgroup_by_few'],
    source: `// The same with fewer than 16 threads, who take several of the last bytes each.
WGSL_FN void zero_workgroup_by_few(void* memory, unsigned bytes, unsigned thread, unsigned threads) {
  zero_workgroup(memory, bytes, thread, threads);
  _Pragma("unroll 1") for (unsigned i = bytes / 16u * 16u + thread; i < bytes; i += threads) static_cast<unsigned char*>(memory)[i] = 0;
}`,
  },
  {
    provides: ['WGSL_DYNAMIC_WORKGROUP'],
    ptx: true,
    source:
      '#define WGSL_DYNAMIC_WORKGROUP extern __shared__ __align__(16) unsigned char workgroup_memory[];',
  },
  {
    provides: ['workgroupUniformLoad'],
    source: `template <class T> WGSL_FN T workgroupUniformLoad(const T& place) {
  __syncthreads();
  const T value = place;
  __syncthreads();
  return value;
}`,
  },
  {
    provides: ['atomicLoad', 'atomicStore'],
    source: `template <class T> WGSL_FN T atomicLoad(const T& place) { return *static_cast<const volatile T*>(&place); }
template <class T> WGSL_FN void atomicStore(T& place, T value) { *static_cast<volatile T*>(&place) = value; }`,
  },
  ...[
    'atomicAdd',
    'atomicMax',
    'atomicMin',
    'atomicAnd',
    'atomicOr',
    'atomicXor',
    ['atomicExchange', 'atomicExch'] as const,
  ].map((entry): Fragment => {
    const [name, builtin] = typeof entry === 'string' ? [entry, entry] : entry
    return {
      provides: [name],
      source: atomicTypes
        .map((t) => `WGSL_FN ${t} ${name}(${t}& place, ${t} value) { return ::${builtin}(&place, value); }`)
        .join('\n'),
    }
  }),
  {
    provides: ['atomicSub'],
    source: `// CUDA's own negates an int, so nvcc takes a value that can only be 0 or 2^31 for 0.
WGSL_FN unsigned atomicSub(unsigned& place, unsigned value) { return ::atomicAdd(&place, 0u - value); }
WGSL_FN int atomicSub(int& place, int value) { return ::atomicAdd(&place, (int)(0u - (unsigned)value)); }`,
  },
  {
    provides: ['atomicStoreMin', 'atomicStoreMax'],
    source: ['Min', 'Max']
      .map(
        (name) =>
          `WGSL_FN void atomicStore${name}(unsigned long long& place, vec2u value) { ::atomic${name}(&place, (unsigned long long)value.y << 32 | value.x); }`,
      )
      .join('\n'),
  },
  {
    provides: ['atomicCompareExchangeWeak'],
    source: `// Never fails spuriously.
template <class Result, class T> WGSL_FN Result atomicCompareExchangeWeak(T& place, T expected, T desired) {
  const T old = ::atomicCAS(&place, expected, desired);
  return Result(old, old == expected);
}`,
  },
  {
    provides: ['trap_view'],
    source: `// The part of a binding that a dispatch may touch: 'rows' runs of 'row_bytes', each 'row_stride' after the last,
// from 'offset' in the binding. An access outside it is skipped, and the first one of the launch is recorded.
struct trap_view {
  unsigned long long bytes, offset, row_bytes, rows, row_stride;
  unsigned binding;
  unsigned* record;
  __device__ __noinline__ bool report(unsigned long long index) const {
    if (atomicCAS(record, 0u, 1u) == 0u) {
      record[1] = binding;
      record[2] = (unsigned)index;
      record[3] = (unsigned)(index >> 32);
      record[4] = blockIdx.x;
      record[5] = blockIdx.y;
      record[6] = blockIdx.z;
      record[7] = threadIdx.x;
      record[8] = threadIdx.y;
      record[9] = threadIdx.z;
    }
    return false;
  }
  // Is 'index' one of an array of 'length' elements?
  __device__ __forceinline__ bool index(unsigned index, unsigned length) const { return index < length || report(index); }
  // Does the access of 'size' bytes at byte 'at' of the binding lie inside the view?
  __device__ __forceinline__ bool access(unsigned long long at, unsigned long long size, unsigned long long index) const {
    if (at + size <= bytes && at >= offset) {
      const unsigned long long from = at - offset;
      const unsigned long long row = rows <= 1ull || row_stride == 0ull ? 0ull : from / row_stride;
      if (row < rows && from - row * row_stride + size <= row_bytes) return true;
    }
    return report(index);
  }
};`,
  },
]
