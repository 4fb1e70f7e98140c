// Products of bf16 in registers that are tiles (AMX): 16 rows of 64 bytes. A step goes through a depth of 32: the products
// of even depths are added up from 0 in order, so are those of odd depths, and the sum of both is added to C, each with one
// rounding to nearest and denormal numbers as zero. Every product of bf16 goes through these steps, and a row's result
// does not depend on the other rows of its tile.
#pragma once
#include "panels.h"

enum { TILE_SIDE = 16, TILE_DEPTH = 32, TILED_ROWS = 2 * TILE_SIDE };

#if defined(__AMX_BF16__)
#define HAS_TILES 1
#else
#define HAS_TILES 0
#endif

#if HAS_TILES
// A [rows, steps x TILE_DEPTH] by columns of a panel of `width`.
struct tile_factors {
  const bfloat16 *a;
  long a_row;
  const bfloat16 *panel;
  long width, steps;
  // In place of the panel in the last step, zero beyond the depth; or NULL.
  const bfloat16 *last;
};

INLINE const bfloat16 *step_of(const struct tile_factors *f, long step) {
  return f->last && step == f->steps - 1 ? f->last : f->panel + step * TILE_DEPTH * f->width;
}

// What the last step multiplies with, where the depth ends within it.
static const bfloat16 *pad_last_step(const bfloat16 *panel, long depth, long width, bfloat16 *own) {
  long whole = depth / TILE_DEPTH * TILE_DEPTH, rest = round_up(depth - whole, 2) % TILE_DEPTH;
  if (rest == 0) return NULL;
  memcpy(own, panel + whole * width, (size_t)(rest * width) * sizeof *own);
  memset(own + rest * width, 0, (size_t)((TILE_DEPTH - rest) * width) * sizeof *own);
  return own;
}
#endif

#if HAS_TILES && defined(TILES_IN_C)
// The same sums without the instructions, for tests.
INLINE unsigned begin_tiles(void) {
  const unsigned denormals_are_zero = 0x8040;
  unsigned before = _mm_getcsr();
  _mm_setcsr(before | denormals_are_zero);
  return before;
}
INLINE void end_tiles(unsigned before) { _mm_setcsr(before); }

// C [row tiles x 16, column tiles x 16] (+)= the products of both factors, the second after the first.
static void multiply_tiles(int row_tiles, int column_tiles, const struct tile_factors *factors, int count, float *c,
                           long c_row, int accumulate) {
  for (long i = 0; i < row_tiles * TILE_SIDE; i++)
    for (long j = 0; j < column_tiles * TILE_SIDE; j += LANES) {
      vector sum = accumulate ? load(c + i * c_row + j) : broadcast(0);
      for (int which = 0; which < count; which++)
        for (long step = 0; step < factors[which].steps; step++) {
          const struct tile_factors *f = &factors[which];
          const bfloat16 *a = f->a + i * f->a_row + step * TILE_DEPTH, *b = step_of(f, step) + 2 * j;
          vector even = broadcast(0), odd = broadcast(0);
          for (long k = 0; k < TILE_DEPTH; k += 2, b += 2 * f->width) {
            integers pairs = *(const integers *)b;
            even += widen(a[k]) * (vector)(pairs << 16);
            odd += widen(a[k + 1]) * (vector)(pairs & (int32_t)0xffff0000);
          }
          sum += even + odd;
        }
      store(c + i * c_row + j, sum);
    }
}

#elif HAS_TILES
INLINE unsigned begin_tiles(void) {
  struct {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
  } __attribute__((aligned(64))) shape = {.palette = 1};
  for (int tile = 0; tile < 8; tile++) shape.row_bytes[tile] = 64, shape.rows[tile] = TILE_SIDE;
  _tile_loadconfig(&shape);
  return 0;
}
// A thread that is taken off its core has no tiles to save.
INLINE void end_tiles(unsigned before) {
  (void)before;
  _tile_release();
}

// Tiles 0 to 3 are of C; 2 x 2 of them, or 1 x 4.
INLINE void tiles_of(const int row_tiles, const int column_tiles, const struct tile_factors *factors, int count,
                     float *c, long c_row, int accumulate) {
  const int is_low = row_tiles == 1;
  long stride = c_row * 4;
  if (accumulate) {
    _tile_loadd(0, c, stride);
    if (column_tiles > 1) _tile_loadd(1, c + 16, stride);
    if (is_low && column_tiles > 2) _tile_loadd(2, c + 32, stride);
    if (is_low && column_tiles > 3) _tile_loadd(3, c + 48, stride);
    if (!is_low) _tile_loadd(2, c + 16 * c_row, stride);
    if (!is_low && column_tiles > 1) _tile_loadd(3, c + 16 * c_row + 16, stride);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  for (int which = 0; which < count; which++) {
    const struct tile_factors *f = &factors[which];
    const bfloat16 *a = f->a;
    long a_stride = f->a_row * 2, b_stride = f->width * 4;
    for (long step = 0; step < f->steps; step++, a += TILE_DEPTH) {
      const bfloat16 *b = step_of(f, step);
      _tile_loadd(4, a, a_stride);
      _tile_loadd(6, b, b_stride);
      _tile_dpbf16ps(0, 4, 6);
      if (is_low) {
        if (column_tiles > 1) {
          _tile_loadd(7, b + 32, b_stride);
          _tile_dpbf16ps(1, 4, 7);
        }
        if (column_tiles > 2) {
          _tile_loadd(6, b + 64, b_stride);
          _tile_dpbf16ps(2, 4, 6);
        }
        if (column_tiles > 3) {
          _tile_loadd(7, b + 96, b_stride);
          _tile_dpbf16ps(3, 4, 7);
        }
      } else {
        _tile_loadd(5, a + 16 * f->a_row, a_stride);
        if (column_tiles > 1) {
          _tile_loadd(7, b + 32, b_stride);
          _tile_dpbf16ps(1, 4, 7);
        }
        _tile_dpbf16ps(2, 5, 6);
        if (column_tiles > 1) _tile_dpbf16ps(3, 5, 7);
      }
    }
  }
  _tile_stored(0, c, stride);
  if (column_tiles > 1) _tile_stored(1, c + 16, stride);
  if (is_low && column_tiles > 2) _tile_stored(2, c + 32, stride);
  if (is_low && column_tiles > 3) _tile_stored(3, c + 48, stride);
  if (!is_low) _tile_stored(2, c + 16 * c_row, stride);
  if (!is_low && column_tiles > 1) _tile_stored(3, c + 16 * c_row + 16, stride);
}

// C [row tiles x 16, column tiles x 16] (+)= the products of both factors, the second after the first.
static void multiply_tiles(int row_tiles, int column_tiles, const struct tile_factors *factors, int count, float *c,
                           long c_row, int accumulate) {
  if (row_tiles == 1) {
    switch (column_tiles) {
    case 1: tiles_of(1, 1, factors, count, c, c_row, accumulate); break;
    case 2: tiles_of(1, 2, factors, count, c, c_row, accumulate); break;
    case 3: tiles_of(1, 3, factors, count, c, c_row, accumulate); break;
    default: tiles_of(1, 4, factors, count, c, c_row, accumulate); break;
    }
    return;
  }
  struct tile_factors own[2];
  memcpy(own, factors, (size_t)count * sizeof *own);
  for (int column = 0; column < column_tiles; column += 2) {
    if (column + 1 < column_tiles) tiles_of(2, 2, own, count, c, c_row, accumulate);
    else tiles_of(2, 1, own, count, c, c_row, accumulate);
    c += 32;
    for (int which = 0; which < count; which++) {
      own[which].panel += 64;
      if (own[which].last) own[which].last += 64;
    }
  }
}
#endif
