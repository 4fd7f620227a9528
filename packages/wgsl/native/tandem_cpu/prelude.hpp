// What the prelude of generated kernels has PTX for on GPUs: asynchronous copies, matrices on tensor cores, numbers of 16 bits.
#pragma once

#include "cuda.hpp"

namespace wgsl {

#define WGSL_DYNAMIC_WORKGROUP
alignas(16) inline unsigned char workgroup_memory[1 << 18];

// An asynchronous copy happens as late as it may, at the wait, and the last one first: code that does not wait, or
// looks in between, sees something else.
template <class T> void async_copy(T& to, const T& from) {
  tandem_cpu::the_scheduler().current->copies.add({&to, &from, sizeof(T), tandem_cpu::the_scheduler().current->group});
}
inline void async_wait() {
  auto& copies = tandem_cpu::the_scheduler().current->copies;
  for (; copies.count > 0; copies.count--) memcpy(copies.end()[-1].to, copies.end()[-1].from, copies.end()[-1].bytes);
}

inline void async_commit() { tandem_cpu::the_scheduler().current->group++; }
template <unsigned groups> void async_wait_before() {
  tandem_cpu::fiber& f = *tandem_cpu::the_scheduler().current;
  size_t due = 0;
  while (due < f.copies.count && f.group - f.copies[due].group > groups) due++;
  for (size_t i = due; i-- > 0;) memcpy(f.copies[i].to, f.copies[i].from, f.copies[i].bytes);
  memmove(f.copies.begin(), f.copies.begin() + due, (f.copies.count -= due) * sizeof(tandem_cpu::copy));
}

// Looks at the stop word, and at the host's, whose address stands 8 bytes behind it where there is one.
inline bool is_told(const unsigned* word) {
  const volatile unsigned* const host = *reinterpret_cast<const volatile unsigned* const*>(word + 2);
  return *static_cast<const volatile unsigned*>(word) != 0 || (host != nullptr && *host != 0);
}
inline void look(const unsigned* word) {
  if (is_told(word)) tandem_cpu::leave();
}
// Only the word that a launch with a limit has.
inline bool is_told_first(const unsigned* word) {
  return word != nullptr && *static_cast<const volatile unsigned*>(word) != 0;
}
inline void look_first(const unsigned* word) {
  if (is_told_first(word)) tandem_cpu::leave();
}
inline void look_first_together(const unsigned* word) {
  if (__any_sync(0xffffffffu, is_told_first(word)) != 0) tandem_cpu::leave();
}
inline void look_after_copies(const unsigned* word) {
  if (!is_told(word)) return;
  async_wait();
  tandem_cpu::leave();
}
// A lane that does not arrive with the others stops the program.
inline void look_together(const unsigned* word) {
  if (__any_sync(0xffffffffu, is_told(word)) == 0) return;
  async_wait();
  tandem_cpu::leave();
}
inline unsigned look_clock() { return 0; }
// Never too soon: tests see every look.
inline bool look_is_due(unsigned&) { return true; }

// A component of a matrix of halves as a tensor core takes it: exact.
inline double half_value(unsigned bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double magnitude = exponent == 31 ? (fraction != 0 ? NAN : INFINITY) : exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}
template <bool transposed, class At> void load_words(unsigned (&r)[4], At at) {
  const unsigned lane = tandem_cpu::lane();
  for (unsigned i = 0; i < 4; i++) {
    unsigned short halves[2];
    for (unsigned e = 0; e < 2; e++) {
      const unsigned across = lane / 4, along = lane % 4 * 2 + e;
      const unsigned row = i % 2 * 8 + (transposed ? along : across), column = i / 2 * 8 + (transposed ? across : along);
      memcpy(&halves[e], at(row, column), 2);
    }
    r[i] = halves[0] | (unsigned)halves[1] << 16;
  }
}
template <bool transposed> void load_matrix_words(unsigned (&r)[4], const void* from, unsigned stride_bytes) {
  load_words<transposed>(r, [&](unsigned row, unsigned column) { return static_cast<const char*>(from) + row * stride_bytes + column * 2; });
}
// In groups of eight elements of 16 bytes the elements are exchanged, differently from row to row.
template <bool transposed, unsigned width> void load_swizzled_words(unsigned (&r)[4], const void* array, unsigned moved, unsigned kept) {
  load_words<transposed>(r, [&](unsigned row, unsigned column) {
    const unsigned element = moved + kept + row * width + column / 8;
    const unsigned shift = width < 8 ? element / 8 % width : element / width % 8;
    return static_cast<const char*>(array) + (element ^ shift) * 16 + column % 8 * 2;
  });
}
// What the lanes hold of a product's factors, by word and lane.
struct factor_words {
  uint32_t left[4][32], right[2][32];
  factor_words(const unsigned (&a)[4], unsigned b0, unsigned b1) {
    for (unsigned i = 0; i < 4; i++) memcpy(left[i], tandem_cpu::exchange(0xffffffffu, a[i]).seen, sizeof left[i]);
    memcpy(right[0], tandem_cpu::exchange(0xffffffffu, b0).seen, sizeof right[0]);
    memcpy(right[1], tandem_cpu::exchange(0xffffffffu, b1).seen, sizeof right[1]);
  }
};
// Calls done(i, x, y) for each of four components with its 16 pairs of factors, in the order of k.
template <class F> void with_factors(const unsigned (&a)[4], unsigned b0, unsigned b1, F done) {
  const factor_words words(a, b0, b1);
  const unsigned lane = tandem_cpu::lane();
  for (unsigned i = 0; i < 4; i++) {
    const unsigned row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
    double x[16], y[16];
    for (unsigned k = 0; k < 16; k++) {
      x[k] = half_value(words.left[row / 8 + k / 8 * 2][row % 8 * 4 + k % 8 / 2] >> k % 2 * 16 & 0xffff);
      y[k] = half_value(words.right[k / 8][column * 4 + k % 8 / 2] >> k % 2 * 16 & 0xffff);
    }
    done(i, x, y);
  }
}
inline void multiply_matrices_i32(int (&d)[8], unsigned half, const unsigned (&a)[4], unsigned b0, unsigned b1, const int (&c)[8]) {
  const factor_words words(a, b0, b1);
  const unsigned lane = tandem_cpu::lane();
  for (unsigned i = 0; i < 4; i++) {
    const unsigned row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
    unsigned sum = (unsigned)c[half + i];
    for (unsigned k = 0; k < 32; k++) {
      const signed char x = (signed char)(words.left[row / 8 + k / 16 * 2][row % 8 * 4 + k % 16 / 4] >> k % 4 * 8);
      const signed char y = (signed char)(words.right[k / 16][column * 4 + k % 16 / 4] >> k % 4 * 8);
      sum += (unsigned)(x * y);
    }
    d[half + i] = (int)sum;
  }
}
// Like the tensor cores of an H100, as the reference executor does (reference/tensor-core.ts): the products and c are cut off two bits below the last bit of the largest.
inline void multiply_matrices_f32(float (&d)[8], unsigned half, const unsigned (&a)[4], unsigned b0, unsigned b1, const float (&c)[8]) {
  with_factors(a, b0, b1, [&](unsigned i, const double (&x)[16], const double (&y)[16]) {
    const double sum = c[half + i];
    const auto larger = [](int first, int second) { return first > second ? first : second; };
    const auto exponent = [&](double value, int least) { return value == 0 ? -4096 : larger(std::ilogb(value), least); };
    double plain = 0;
    int largest = exponent(sum, -126);
    for (unsigned k = 0; k < 16; k++) {
      plain += x[k] * y[k];
      if (std::isfinite(plain)) largest = larger(largest, exponent(x[k], -14) + exponent(y[k], -14));
    }
    if (!std::isfinite(plain + sum)) {
      d[half + i] = (float)(plain + sum);
      return;
    }
    largest = larger(largest, -512);
    double total = std::trunc(std::ldexp(sum, 25 - largest));
    for (unsigned k = 0; k < 16; k++) total += std::trunc(std::ldexp(x[k] * y[k], 25 - largest));
    const int excess = total == 0 ? 0 : larger(0, std::ilogb(total) - 23);
    d[half + i] = (float)std::ldexp(std::trunc(std::ldexp(total, -excess)), excess + largest - 25);
  });
}
inline unsigned short ptx_f32_to_f16(float a);
inline void multiply_matrices_f16(unsigned (&d)[4], unsigned half, const unsigned (&a)[4], unsigned b0, unsigned b1, const unsigned (&c)[4]) {
  double sums[4];
  with_factors(a, b0, b1, [&](unsigned i, const double (&x)[16], const double (&y)[16]) {
    sums[i] = 0;
    for (unsigned k = 0; k < 16; k++) sums[i] += x[k] * y[k];
  });
  for (unsigned i = 0; i < 2; i++) {
    const unsigned low = ptx_f32_to_f16((float)(sums[2 * i] + half_value(c[half + i] & 0xffff)));
    d[half + i] = low | (unsigned)ptx_f32_to_f16((float)(sums[2 * i + 1] + half_value(c[half + i] >> 16))) << 16;
  }
}

// The chunks that are not loaded hold garbage.
template <unsigned chunks, class T> T load_uniform(const T* from) {
  T value;
  memset(&value, 0xa5, sizeof(T));
  for (size_t at = 0; at < sizeof(T); at += 16)
    if (chunks >> at / 16 & 1u) memcpy(reinterpret_cast<char*>(&value) + at, reinterpret_cast<const char*>(from) + at, sizeof(T) - at < 16 ? sizeof(T) - at : 16);
  return value;
}
inline unsigned unknown(unsigned value) {
  asm("" : "+r"(value));
  return value;
}
inline unsigned bit_not(unsigned a) { return ~a; }
inline int bit_not(int a) { return ~a; }
inline int ptx_neg(int a) { return (int)(0u - (unsigned)a); }
inline unsigned dot4U8Packed(unsigned a, unsigned b) {
  unsigned sum = 0;
  for (int i = 0; i < 32; i += 8) sum += (a >> i & 0xffu) * (b >> i & 0xffu);
  return sum;
}
inline int dot4I8Packed(unsigned a, unsigned b) {
  int sum = 0;
  for (int i = 0; i < 32; i += 8) sum += (int)(int8_t)(a >> i) * (int)(int8_t)(b >> i);
  return sum;
}
inline unsigned lane_index() { return tandem_cpu::lane(); }
inline unsigned active_lanes(int site) {
  tandem_cpu::fiber* f = tandem_cpu::the_scheduler().current;
  f->site = site;
  tandem_cpu::to_scheduler(tandem_cpu::state::at_active);
  return f->mask;
}
inline float ptx_div(float a, float b) { return a / b; }
inline float ptx_sqrt(float a) { return sqrtf(a); }
inline float ptx_rsqrt(float a) { return 1.0f / sqrtf(a); }

inline float ptx_f16_to_f32(unsigned short a) {
  const unsigned sign = (unsigned)(a & 0x8000) << 16, exponent = a >> 10 & 31u, mantissa = a & 0x3ffu;
  if (exponent == 31u) return __uint_as_float(sign | 0x7f800000u | mantissa << 13);
  if (exponent == 0u) {
    const float magnitude = ldexpf((float)mantissa, -24);
    return sign ? -magnitude : magnitude;
  }
  return __uint_as_float(sign | (exponent + 112u) << 23 | mantissa << 13);
}
// To nearest, ties to even.
inline unsigned short round_to_f16(double a) {
  const unsigned sign = std::signbit(a) ? 0x8000u : 0u;
  const double m = fabs(a);
  if (m != m) return 0x7e00;
  if (m >= 65520.0) return (unsigned short)(sign | 0x7c00u);
  if (m < ldexp(1.0, -25)) return (unsigned short)sign;
  int e;
  frexp(m, &e);
  const int exponent = e - 1 < -14 ? -14 : e - 1;
  const unsigned steps = (unsigned)nearbyint(ldexp(m, 10 - exponent));
  return (unsigned short)(sign | (((unsigned)(exponent + 14) << 10) + steps));
}
inline unsigned short ptx_f32_to_f16(float a) { return round_to_f16(a); }
inline unsigned short ptx_f16_abs(unsigned short a) { return (unsigned short)(a & 0x7fff); }
inline unsigned short ptx_f16_add(unsigned short a, unsigned short b) { return round_to_f16((double)ptx_f16_to_f32(a) + ptx_f16_to_f32(b)); }
inline unsigned short ptx_f16_sub(unsigned short a, unsigned short b) { return round_to_f16((double)ptx_f16_to_f32(a) - ptx_f16_to_f32(b)); }
inline unsigned short ptx_f16_mul(unsigned short a, unsigned short b) { return round_to_f16((double)ptx_f16_to_f32(a) * ptx_f16_to_f32(b)); }
inline unsigned short ptx_f16_fma(unsigned short a, unsigned short b, unsigned short c) {
  return round_to_f16((double)ptx_f16_to_f32(a) * ptx_f16_to_f32(b) + ptx_f16_to_f32(c));
}

}  // namespace wgsl
