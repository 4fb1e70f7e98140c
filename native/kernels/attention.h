// What attention in training and with a cache share, so that a row has the same bits in both: scores are dot products
// in the order of the head's dimensions, the softmax sums in lanes by the position of the key, and values are added in
// the order of keys. Keys lie transposed in blocks of KEY_BLOCK, [head size][KEY_BLOCK].
#pragma once
#include "tile.h"

enum { KEY_BLOCK = 64 };

// Scores of `rows` queries, TILE_ROWS at most, with one block of keys.
static void score_block(int rows, long head_size, const float *queries, long query_stride, const float *block,
                        float *scores, long score_stride) {
  for (long column = 0; column < KEY_BLOCK; column += PANEL)
    product_tile(rows, PANEL, head_size, queries, query_stride, 1, block + column, KEY_BLOCK, scores + column,
                 score_stride, 0);
}

INLINE vector load_scores(const float *scores, long j, long first, long end, float other) {
  if (j >= first && j + LANES <= end) return load(scores + j);
  float lanes[LANES];
  for (long k = 0; k < LANES; k++) lanes[k] = j + k >= first && j + k < end ? scores[j + k] : other;
  return load(lanes);
}

// In place: exp(scale score) / sum over the keys from `first` to `end`, and 0 for the others below `width`, which is a
// multiple of LANES.
static void softmax_scores(float *scores, long first, long end, long width, float scale) {
  long start = first / LANES * LANES;
  vector most = broadcast(-FLT_MAX), sum = broadcast(0);
  for (long j = start; j < end; j += LANES) most = larger(most, load_scores(scores, j, first, end, -FLT_MAX));
  float top = largest_lane(most) * scale;
  for (long j = start; j < end; j += LANES) {
    // Far below every number: its exponential is 0.
    vector e = exponential(load_scores(scores, j, first, end, -FLT_MAX) * scale - top);
    if (j < first || j + LANES > end) {
      float lanes[LANES];
      store(lanes, e);
      for (long k = 0; k < LANES; k++)
        if (j + k < first || j + k >= end) lanes[k] = 0;
      e = load(lanes);
    }
    store(scores + j, e);
    sum += e;
  }
  float inverse = 1 / sum_lanes(sum);
  for (long j = start; j < end; j += LANES) store(scores + j, load(scores + j) * inverse);
  memset(scores, 0, (size_t)start * sizeof *scores);
  long written = round_up(end, LANES);
  if (written < width) memset(scores + written, 0, (size_t)(width - written) * sizeof *scores);
}

// Adds `keys` values with the shares of `rows` queries to `sums` [rows][value_width].
static void add_values(int rows, long keys, const float *shares, long share_stride, const float *values,
                       long value_width, long value_stride, float *sums, int accumulate) {
  for (long column = 0; column < value_width; column += PANEL) {
    int width = (int)(value_width - column < PANEL ? value_width - column : PANEL);
    product_tile(rows, width, keys, shares, share_stride, 1, values + column, value_stride, sums + column, value_width,
                 accumulate);
  }
}

// The first key that a token at `position` attends to; a window of 0 is none.
INLINE long first_key(long position, long window) {
  return window > 0 && position >= window ? position - window + 1 : 0;
}
