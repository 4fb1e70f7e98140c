// Writes a part of a packed matrix (`panels.h`) from rows in memory.
#include "operation.h"
#include "panels.h"

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

static void pack_columns(void *context, int piece, int pieces, int thread) {
  (void)thread;
  const struct pack *p = context;
  long columns = p->transposed ? p->columns : p->rows, depth = p->transposed ? p->rows : p->columns;
  long first = piece_start(columns, piece, pieces), end = piece_start(columns, piece + 1, pieces);
  for (long n = first; n < end; n++)
    for (long k = 0; k < depth; k++) {
      float value = p->transposed ? element(p, k, n) : element(p, n, k);
      if (p->scale != 1) value *= p->scale;
      long at = panel_index(p->format, p->packed_depth, p->packed_columns, p->first_depth + k, p->first_column + n);
      if (p->format == PANEL_F32) ((float *)p->to)[at] = value;
      else ((bfloat16 *)p->to)[at] = narrow(value);
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
  long columns = p.transposed ? p.columns : p.rows;
  // Neighbouring columns share a cache line.
  long units = (columns + 15) / 16;
  team_run(team, pack_columns, &p, pieces_for(team, 4.0 * (double)p.rows * (double)p.columns, units));
}
