// The inner loop of every product: a tile of C, TILE_ROWS x PANEL at most, stays in registers while the depth is gone
// through in order. So a row's result depends on that row alone, wherever it is computed.
#pragma once
#include "widen.h"

// How many vectors a panel of `width` columns has.
enum { PANEL_VECTORS = PANEL / LANES, VECTORS_OF_16 = 16 / LANES };

// How many lines of 64 bytes a tile asks for at each step through the depth, so that the next panel is there after the
// tiles of this one.
INLINE int lines_ahead(int rows) { return rows <= 4 ? 2 : 1; }
// Returns what to ask for next.
INLINE const char *prefetch(const int rows, const char *ahead) {
  if (!ahead) return NULL;
  for (int i = 0; i < lines_ahead(rows); i++) __builtin_prefetch(ahead + 64 * i, 0, 2);
  return ahead + 64 * lines_ahead(rows);
}

// C [rows, vectors] (+)= A [rows, depth] B [depth, width]; `a_row` and `a_depth` are strides of A, `b_depth` that of B.
INLINE void tile_f32(const int rows, const int vectors, long depth, const float *a, long a_row, long a_depth,
                     const float *b, long b_depth, float *c, long c_row, int accumulate, const char *ahead) {
  vector sums[TILE_ROWS][PANEL_VECTORS];
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < vectors; j++) sums[i][j] = accumulate ? load(c + i * c_row + LANES * j) : broadcast(0);
  for (long k = 0; k < depth; k++) {
    vector row[PANEL_VECTORS];
    for (int j = 0; j < vectors; j++) row[j] = load(b + LANES * j);
    b += b_depth;
    ahead = prefetch(rows, ahead);
    for (int i = 0; i < rows; i++) {
      float factor = a[i * a_row + k * a_depth];
      for (int j = 0; j < vectors; j++) sums[i][j] += factor * row[j];
    }
  }
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < vectors; j++) store(c + i * c_row + LANES * j, sums[i][j]);
}

// The same with B in bf16 or integers, widened in registers, and A in f32.
INLINE void tile_widened(const enum panel_format format, const int rows, const int vectors, long depth, const float *a,
                         long a_row, const void *panel, float *c, long c_row, int accumulate,
                         const char *ahead) {
  const char *b = panel;
  vector sums[TILE_ROWS][PANEL_VECTORS];
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < vectors; j++) sums[i][j] = accumulate ? load(c + i * c_row + LANES * j) : broadcast(0);
  for (long k = 0; k < depth; k += 2) {
    for (int j = 0; j < vectors; j++, b += 2 * LANES * panel_element_bytes(format)) {
      struct two_rows two = load_two_rows(format, b);
      for (int i = 0; i < rows; i++) {
        sums[i][j] += a[i * a_row + k] * two.even;
        sums[i][j] += a[i * a_row + k + 1] * two.odd;
      }
    }
    ahead = prefetch(rows, ahead);
  }
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < vectors; j++) store(c + i * c_row + LANES * j, sums[i][j]);
}

// The same with A in bf16, and B in bf16 or integers. Products are exact; a pair is added to the sum one after the
// other, the odd one first, each with one rounding, as `vdpbf16ps` does.
INLINE void tile_bf16(const enum panel_format format, const int rows, const int vectors, long depth, const bfloat16 *a,
                      long a_row, const void *panel, float *c, long c_row, int accumulate,
                      const char *ahead) {
  const char *b = panel;
  vector sums[TILE_ROWS][PANEL_VECTORS];
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < vectors; j++) sums[i][j] = accumulate ? load(c + i * c_row + LANES * j) : broadcast(0);
  for (long k = 0; k < depth; k += 2) {
    integers pairs[PANEL_VECTORS];
    for (int j = 0; j < vectors; j++, b += 2 * LANES * panel_element_bytes(format)) pairs[j] = load_pairs(format, b);
#if defined(__AVX512BF16__)
    for (int i = 0; i < rows; i++) {
      int32_t two;
      memcpy(&two, a + i * a_row + k, 4);
      __m512bh factor = (__m512bh)_mm512_set1_epi32(two);
      for (int j = 0; j < vectors; j++)
        sums[i][j] = (vector)_mm512_dpbf16_ps((__m512)sums[i][j], factor, (__m512bh)pairs[j]);
    }
#elif defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
    // Not BFDOT: it rounds the sum of a pair apart, and to odd. These round like the sums below.
    for (int i = 0; i < rows; i++) {
      uint32_t two;
      memcpy(&two, a + i * a_row + k, 4);
      bfloat16x8_t factor = vreinterpretq_bf16_u32(vdupq_n_u32(two));
      for (int j = 0; j < vectors; j++) {
        bfloat16x8_t own = vreinterpretq_bf16_s32((int32x4_t)pairs[j]);
        float32x4_t sum = vbfmlaltq_f32((float32x4_t)sums[i][j], factor, own);
        sums[i][j] = (vector)vbfmlalbq_f32(sum, factor, own);
      }
    }
#else
    for (int j = 0; j < vectors; j++) {
      vector even = (vector)(pairs[j] << 16), odd = (vector)(pairs[j] & (int32_t)0xffff0000);
      for (int i = 0; i < rows; i++) {
        sums[i][j] += widen(a[i * a_row + k + 1]) * odd;
        sums[i][j] += widen(a[i * a_row + k]) * even;
      }
    }
#endif
    ahead = prefetch(rows, ahead);
  }
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < vectors; j++) store(c + i * c_row + LANES * j, sums[i][j]);
}

// Compiles `call(rows, vectors)` with constants for each size of tile.
#define TILE_BY_ROWS(rows, vectors, call)                                                                    \
  switch (rows) {                                                                                            \
  case 1: call(1, vectors); break;                                                                           \
  case 2: call(2, vectors); break;                                                                           \
  case 3: call(3, vectors); break;                                                                           \
  case 4: call(4, vectors); break;                                                                           \
  case 5: call(5, vectors); break;                                                                           \
  default: call(6, vectors); break;                                                                          \
  }
#if defined(__AVX512F__)
#define TILE(rows, width, call)                                                                              \
  switch ((width) / 16) {                                                                                    \
  case 1: TILE_BY_ROWS(rows, 1, call) break;                                                                 \
  case 2: TILE_BY_ROWS(rows, 2, call) break;                                                                 \
  case 3: TILE_BY_ROWS(rows, 3, call) break;                                                                 \
  default: TILE_BY_ROWS(rows, 4, call) break;                                                                \
  }
#else
#define TILE(rows, width, call) (void)(width); TILE_BY_ROWS(rows, PANEL_VECTORS, call)
#endif

// Products of unpacked rows, in f32: `width` is a multiple of 16, at most PANEL.
static inline void product_tile(int rows, int width, long depth, const float *a, long a_row, long a_depth, const float *b,
                         long b_depth, float *c, long c_row, int accumulate) {
#define CALL(r, v) tile_f32(r, v, depth, a, a_row, a_depth, b, b_depth, c, c_row, accumulate, NULL)
  TILE(rows, width, CALL)
#undef CALL
}
