// Vectors of the instruction set that this file is compiled for (`all.c`), and functions on them whose results
// depend on each lane alone. No -ffast-math: an order of summation that the compiler chooses would not be the same
// in training and in sampling.
#pragma once
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#if defined(__AVX512F__)
enum { LANES = 16 };
#elif defined(__AVX2__)
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif

#define INLINE static inline __attribute__((always_inline))

typedef float vector __attribute__((vector_size(4 * LANES), aligned(4)));
typedef int32_t integers __attribute__((vector_size(4 * LANES), aligned(4)));
typedef uint16_t bfloat16;

INLINE vector load(const float *from) { return *(const vector *)from; }
INLINE void store(float *to, vector x) { *(vector *)to = x; }
INLINE vector broadcast(float x) { return (vector){0} + x; }

// The first `count` lanes, below LANES; the others are `other`.
INLINE vector load_some(const float *from, int count, float other) {
  float lanes[LANES];
  for (int i = 0; i < LANES; i++) lanes[i] = i < count ? from[i] : other;
  return load(lanes);
}
INLINE void store_some(float *to, vector x, int count) {
  for (int i = 0; i < count; i++) to[i] = x[i];
}

// Of one lane that is NaN: NaN where it is `b`.
INLINE vector larger(vector a, vector b) {
  integers from_a = a > b;
  return (vector)(((integers)a & from_a) | ((integers)b & ~from_a));
}
INLINE vector smaller(vector a, vector b) {
  integers from_a = a < b;
  return (vector)(((integers)a & from_a) | ((integers)b & ~from_a));
}

INLINE float sum_lanes(vector x) {
  float sum = 0;
  for (int i = 0; i < LANES; i++) sum += x[i];
  return sum;
}
INLINE float largest_lane(vector x) {
  float most = x[0];
  for (int i = 1; i < LANES; i++) most = x[i] > most ? x[i] : most;
  return most;
}

// e^x by Cody and Waite's reduction and the polynomial of Cephes' expf: relative error below 2e-7. Inputs below -87
// give 0, those above 88 e^88; NaN stays NaN.
INLINE vector exponential(vector x) {
  integers is_number = x == x;
  vector clamped = smaller(larger(x, broadcast(-87)), broadcast(88));
  clamped = (vector)((integers)clamped & is_number);
  integers up = clamped > 0;
  vector half = (vector)((up & 0x3f000000) | (~up & (int32_t)0xbf000000));
  integers exponent = __builtin_convertvector(clamped * 1.44269504f + half, integers);
  vector n = __builtin_convertvector(exponent, vector);
  vector r = clamped - n * 0.693359375f + n * 2.12194440e-4f;
  vector p = broadcast(1.9875691500e-4f);
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1;
  vector result = p * (vector)((exponent + 127) << 23);
  integers is_large = x >= -87;
  return (vector)(((integers)result & is_number & is_large) | ((integers)x & ~is_number));
}

INLINE float widen(bfloat16 x) {
  uint32_t bits = (uint32_t)x << 16;
  float value;
  memcpy(&value, &bits, 4);
  return value;
}
// To nearest, ties to even; denormal numbers become zero, as the instruction does; NaN stays NaN.
INLINE bfloat16 narrow(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  if (x != x) return (bfloat16)(bits >> 16 | 0x40);
  if ((bits & 0x7f800000) == 0) return (bfloat16)(bits >> 16 & 0x8000);
  return (bfloat16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
INLINE void narrow_all(bfloat16 *to, const float *from, long count) {
  long i = 0;
#if defined(__AVX512BF16__)
  for (; i + 16 <= count; i += 16)
    _mm256_storeu_si256((__m256i *)(to + i), (__m256i)_mm512_cvtneps_pbh(_mm512_loadu_ps(from + i)));
#endif
  for (; i < count; i++) to[i] = narrow(from[i]);
}
