// Writes a part of a packed matrix (`panels.h`) from rows in memory.
#include "operation.h"
#include "words.h"

struct pack {
  const void *from;
  int from_bf16, transposed;
  long rows, columns, stride;
  void *to;
  enum panel_format format;
  long packed_depth, packed_columns, first_depth, first_column;
  float scale;
};

static float element(const struct pack *p, long row, long column) {
  long at = row * p->stride + column;
  return p->from_bf16 ? widen(((const bfloat16 *)p->from)[at]) : ((const float *)p->from)[at];
}

// One element after the other: where pairs begin or end at an odd depth.
static void pack_elements(void *context, int piece, int pieces, int thread) {
  (void)thread;
  const struct pack *p = context;
  long columns = p->transposed ? p->columns : p->rows, depth = p->transposed ? p->rows : p->columns;
  long first = piece_start(columns, piece, pieces), end = piece_start(columns, piece + 1, pieces);
  for (long k = 0; k < depth; k++)
    for (long n = first; n < end; n++) {
      float value = p->transposed ? element(p, k, n) : element(p, n, k);
      if (p->scale != 1) value *= p->scale;
      long at = panel_index(p->format, p->packed_depth, p->packed_columns, p->first_depth + k, p->first_column + n);
      if (p->format == PANEL_F32) ((float *)p->to)[at] = value;
      else ((bfloat16 *)p->to)[at] = narrow(value);
    }
}

enum { WORDS = 64 };

// As `narrow` leaves them.
static void copy_bf16(const bfloat16 *from, long count, bfloat16 *to) {
  for (long i = 0; i < count; i++) to[i] = from[i] & (bfloat16)(from[i] & 0x7f80 ? 0xffff : 0x8000);
}

// Elements `first` to below `end` of a row, in the format of the panels.
static void read_row(const struct pack *p, long row, long first, long end, void *to) {
  long count = end - first;
  const float *floats = (const float *)p->from + row * p->stride + first;
  const bfloat16 *halves = (const bfloat16 *)p->from + row * p->stride + first;
  if (p->from_bf16 && p->format == PANEL_BF16 && p->scale == 1) {
    copy_bf16(halves, count, to);
    return;
  }
  float own[2 * WORDS];
  for (long k = 0; k < count; k++) own[k] = (p->from_bf16 ? widen(halves[k]) : floats[k]) * p->scale;
  if (p->format == PANEL_BF16) narrow_all(to, own, count);
  else memcpy(to, own, (size_t)count * sizeof *own);
}

static void pack_blocks(void *context, int piece, int pieces, int thread) {
  (void)thread;
  const struct pack *p = context;
  long pair = p->format == PANEL_BF16 ? 2 : 1, end_column = p->first_column + p->rows;
  long first_block = p->first_column / BLOCK, blocks = (end_column + BLOCK - 1) / BLOCK - first_block;
  for (long block = piece_start(blocks, piece, pieces); block < piece_start(blocks, piece + 1, pieces); block++) {
    long column = (first_block + block) * BLOCK, end = column + BLOCK < end_column ? column + BLOCK : end_column;
    if (column < p->first_column) column = p->first_column;
    long width = panel_width(p->packed_columns, column / PANEL);
    for (long k = 0; k < p->columns; k += WORDS * pair) {
      long last = k + WORDS * pair < p->columns ? k + WORDS * pair : p->columns;
      int32_t words[BLOCK * WORDS];
      for (long n = column; n < end; n++)
        read_row(p, n - p->first_column, k, last, words + (n - column) * WORDS);
      long at = panel_index(p->format, p->packed_depth, p->packed_columns, p->first_depth + k, column);
      write_words(words, WORDS, end - column, (last - k) / pair, (int32_t *)p->to + at / pair, width);
    }
  }
}

// Rows that lie along the panels; of bf16, two at a time.
static void pack_along(void *context, int piece, int pieces, int thread) {
  (void)thread;
  const struct pack *p = context;
  long pair = p->format == PANEL_BF16 ? 2 : 1, end_column = p->first_column + p->columns;
  long first_block = p->first_column / BLOCK, blocks = (end_column + BLOCK - 1) / BLOCK - first_block;
  for (long block = piece_start(blocks, piece, pieces); block < piece_start(blocks, piece + 1, pieces); block++) {
    long column = (first_block + block) * BLOCK, end = column + BLOCK < end_column ? column + BLOCK : end_column;
    if (column < p->first_column) column = p->first_column;
    long from = column - p->first_column, count = end - column;
    for (long k = 0; k < p->rows; k += pair) {
      long at = panel_index(p->format, p->packed_depth, p->packed_columns, p->first_depth + k, column);
      if (pair == 1) {
        read_row(p, k, from, from + count, (float *)p->to + at);
        continue;
      }
      bfloat16 even[BLOCK], odd[BLOCK], *to = (bfloat16 *)p->to + at;
      read_row(p, k, from, from + count, even);
      read_row(p, k + 1, from, from + count, odd);
      for (long j = 0; j < count; j++) to[2 * j] = even[j], to[2 * j + 1] = odd[j];
    }
  }
}

// Element [n, k] of the rows goes to depth k of column n; where `transposed` is 1, to depth n of column k.
// address, is bf16, rows, columns, stride, transposed, packed matrix, format (f32, bf16), its depth, its columns,
// depth of the first element, column of the first element, factor
static void pack(const double *arguments, struct team *team) {
  struct reader in = {arguments};
  struct pack p = {0};
  p.from = read_address(&in), p.from_bf16 = (int)read_integer(&in);
  p.rows = read_integer(&in), p.columns = read_integer(&in), p.stride = read_integer(&in);
  p.transposed = (int)read_integer(&in);
  p.to = read_address(&in), p.format = (enum panel_format)read_integer(&in);
  p.packed_depth = read_integer(&in), p.packed_columns = read_integer(&in);
  p.first_depth = read_integer(&in), p.first_column = read_integer(&in);
  p.scale = read_number(&in);
  int in_pairs = p.format == PANEL_F32 || (p.first_depth % 2 == 0 && (p.transposed ? p.rows : p.columns) % 2 == 0);
  team_part part = !in_pairs ? pack_elements : p.transposed ? pack_along : pack_blocks;
  // Neighbouring columns share a cache line.
  long units = ((p.transposed ? p.columns : p.rows) + BLOCK - 1) / BLOCK;
  int pieces = pieces_for(team, 4.0 * (double)p.rows * (double)p.columns, units);
  team_run(team, part, &p, pieces);
}
