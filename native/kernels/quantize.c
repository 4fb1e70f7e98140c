// Rows in memory as columns of a packed matrix (`panels.h`) of integers: symmetric, the largest of each row is 127. They
// are those of src/engine/model/int8-matrix.ts.
#include "operation.h"
#include "words.h"

struct quantize {
  const void *from;
  int from_bf16;
  long rows, columns, stride;
  int8_t *to;
  long packed_depth, packed_columns, first_column;
  float *scales;
};

enum { LARGEST_INTEGER = 127, CHUNK = 128 };

static void read_weights(const struct quantize *p, long row, long first, long count, float *to) {
  const float *floats = (const float *)p->from + row * p->stride + first;
  const bfloat16 *halves = (const bfloat16 *)p->from + row * p->stride + first;
  if (!p->from_bf16) memcpy(to, floats, (size_t)count * sizeof *to);
  else
    for (long i = 0; i < count; i++) to[i] = widen(halves[i]);
}

// NaN where a weight is not finite.
static float scale_of(const struct quantize *p, long row) {
  // Magnitudes are in the order of their bits.
  uint32_t peak = 0;
  for (long k = 0; k < p->columns; k += CHUNK) {
    float weights[CHUNK];
    uint32_t bits[CHUNK];
    long count = p->columns - k < CHUNK ? p->columns - k : CHUNK;
    read_weights(p, row, k, count, weights);
    memcpy(bits, weights, (size_t)count * sizeof *bits);
    for (long i = 0; i < count; i++) {
      uint32_t magnitude = bits[i] & 0x7fffffff;
      peak = magnitude > peak ? magnitude : peak;
    }
  }
  float largest;
  memcpy(&largest, &peak, sizeof largest);
  return peak < 0x7f800000 ? largest / LARGEST_INTEGER : NAN;
}

// To nearest, ties up, as Math.round does: quotients of floats are never as near to a tie as the sum is rounded.
static void round_weights(const float *weights, long count, float scale, int8_t *to) {
  for (long i = 0; i < count; i++) {
    // The scale is denormal, and much rounded, where this is above.
    double steps = (double)weights[i] / (double)scale;
    steps = steps > LARGEST_INTEGER ? LARGEST_INTEGER : steps < -LARGEST_INTEGER ? -LARGEST_INTEGER : steps;
    to[i] = (int8_t)((int)(steps + 128.5) - 128);
  }
}

static void quantize_rows(void *context, int piece, int pieces, int thread) {
  (void)thread;
  const struct quantize *p = context;
  for (long row = piece_start(p->rows, piece, pieces); row < piece_start(p->rows, piece + 1, pieces); row++) {
    long column = p->first_column + row, width = panel_width(p->packed_columns, column / PANEL);
    int8_t *to = p->to + panel_index(PANEL_INT8, p->packed_depth, p->packed_columns, 0, column);
    float scale = scale_of(p, row);
    p->scales[column] = scale;
    for (long k = 0; k < p->columns; k += CHUNK) {
      float weights[CHUNK];
      int8_t rounded[CHUNK] = {0};
      long count = p->columns - k < CHUNK ? p->columns - k : CHUNK;
      read_weights(p, row, k, count, weights);
      if (scale > 0) round_weights(weights, count, scale, rounded);
      for (long i = 0; i < count; i += 2, to += 2 * width) memcpy(to, rounded + i, 2);
    }
  }
}

// Element [n, k] of the rows goes to depth k of the column after n others; every column has its scale.
// address, is bf16, rows, columns, stride, packed matrix, its depth, its columns, column of the first row, scales [its
// columns]
static void quantize(const double *arguments, struct team *team) {
  struct reader in = {arguments};
  struct quantize p = {0};
  p.from = read_address(&in), p.from_bf16 = (int)read_integer(&in);
  p.rows = read_integer(&in), p.columns = read_integer(&in), p.stride = read_integer(&in);
  p.to = read_address(&in), p.packed_depth = read_integer(&in), p.packed_columns = read_integer(&in);
  p.first_column = read_integer(&in), p.scales = read_address(&in);
  team_run(team, quantize_rows, &p, pieces_for(team, 8.0 * (double)p.rows * (double)p.columns, (p.rows + BLOCK - 1) / BLOCK));
}
