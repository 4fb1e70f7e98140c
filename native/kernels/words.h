// Words of 32 bits, a float or a pair of bf16 that are neighbours in depth, from rows into panels (`panels.h`): there
// the words of a row lie one below the other.
#pragma once
#include "panels.h"

// Columns of a panel that are written together: a cache line.
enum { BLOCK = 16 };

#if defined(__AVX512F__)
#define LOW_HALVES 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH_HALVES 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#elif defined(__AVX2__)
#define LOW_HALVES 0, 8, 1, 9, 2, 10, 3, 11
#define HIGH_HALVES 4, 12, 5, 13, 6, 14, 7, 15
#else
#define LOW_HALVES 0, 4, 1, 5
#define HIGH_HALVES 2, 6, 3, 7
#endif

// Row i becomes column i. Each step interleaves rows that are half of all apart.
INLINE void transpose_square(integers rows[LANES]) {
  for (int step = 1; step < LANES; step *= 2) {
    integers next[LANES];
    for (int i = 0; i < LANES / 2; i++) {
      next[2 * i] = __builtin_shufflevector(rows[i], rows[i + LANES / 2], LOW_HALVES);
      next[2 * i + 1] = __builtin_shufflevector(rows[i], rows[i + LANES / 2], HIGH_HALVES);
    }
    memcpy(rows, next, sizeof next);
  }
}

// `count` words of each of `columns` rows, BLOCK at most, to a panel of `width` columns: `to` is that of the first word.
INLINE void write_words(const int32_t *words, long stride, long columns, long count, int32_t *to, long width) {
  long done = columns == BLOCK ? count / LANES * LANES : 0;
  for (long word = 0; word < done; word += LANES)
    for (long column = 0; column < BLOCK; column += LANES) {
      integers square[LANES];
      for (int i = 0; i < LANES; i++) square[i] = *(const integers *)(words + (column + i) * stride + word);
      transpose_square(square);
      for (int i = 0; i < LANES; i++) *(integers *)(to + (word + i) * width + column) = square[i];
    }
  for (long column = 0; column < columns; column++)
    for (long word = done; word < count; word++) to[word * width + column] = words[column * stride + word];
}
