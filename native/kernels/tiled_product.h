// Products of bf16 in tiles (`tiles.h`): a block of A stays in the cache of the thread's core while panels go by.
#pragma once
#include "product.h"
#include "tile.h"

#if HAS_TILES
// Of A: some 1 MB of bf16.
enum { DEPTH_BLOCK = 1024, BLOCK_ELEMENTS = 1 << 19, MOST_BLOCK_ROWS = 1024 };

// Part of one panel: rows from `first` to below `end`, depth from `start` to below `stop`.
struct tile_block {
  long panel, first, end, start, stop;
  int accumulate;
};

// Columns of a panel by part of A's depth.
static struct tile_factors factors_of(const struct operand *o, const bfloat16 *panel, long width, long row, long start,
                                      long stop, bfloat16 *own) {
  long stride = narrow_stride(o), steps = (stop - start + TILE_DEPTH - 1) / TILE_DEPTH;
  const bfloat16 *from = panel + start * width;
  return (struct tile_factors){o->a_narrow + row * stride + start, stride, from, width, steps,
                               pad_last_step(from, stop - start, width, own)};
}

// Onto C: a second operand in f32, or none.
static void add_second(const struct product *p, const float *panel, long width, long row, long rows, float *c,
                       long c_stride) {
  const struct operand *o = &p->second;
  for (long i = 0; panel && i < rows; i += TILE_ROWS)
    product_tile((int)(rows - i < TILE_ROWS ? rows - i : TILE_ROWS), (int)width, o->depth, o->a + (row + i) * o->a_stride,
                 o->a_stride, 1, panel, width, c + i * c_stride, c_stride, 1);
}

// Tiles of C in memory of their own: where rows or columns end within them, or with a bias or scales.
static void multiply_apart(const struct product *p, const struct tile_factors *factors, int count, const float *second,
                           long row, long rows, long column, int accumulate) {
  float sums[TILED_ROWS * PANEL];
  long width = factors->width;
  int row_tiles = (int)((rows + TILE_SIDE - 1) / TILE_SIDE), column_tiles = (int)(width / TILE_SIDE);
  long columns = p->columns - column < width ? p->columns - column : width;
  float *c = p->c + row * p->c_stride + column;
  const float *bias = p->bias ? p->bias + column : NULL, *scales = p->scales ? p->scales + column : NULL;
  memset(sums, 0, sizeof sums);
  if (scales) multiply_tiles(row_tiles, column_tiles, factors, 1, sums, width, 0);
  for (long i = 0; i < rows; i++)
    for (long j = 0; j < columns; j++) {
      float start = (accumulate ? c[i * p->c_stride + j] : 0) + (bias ? bias[j] : 0);
      sums[i * width + j] = scales ? start + sums[i * width + j] * scales[j] : start;
    }
  int done = scales ? 1 : 0;
  if (count > done) multiply_tiles(row_tiles, column_tiles, factors + done, count - done, sums, width, 1);
  add_second(p, second, width, row, rows, sums, width);
  for (long i = 0; i < rows; i++) memcpy(c + i * p->c_stride, sums + i * width, (size_t)columns * sizeof *c);
}

static void multiply_tile_block(const struct product *p, struct tile_block b, const bfloat16 *panel) {
  bfloat16 own[2][TILE_DEPTH * PANEL];
  long width = panel_width(p->columns, b.panel), column = b.panel * PANEL;
  int has_second = b.stop == p->first.depth && p->second.depth > 0;
  int count = has_second && is_narrow(p, &p->second) ? 2 : 1;
  const void *second = has_second ? find_panel(&p->second, b.panel).data : NULL;
  struct tile_factors factors[2] = {factors_of(&p->first, panel, width, b.first, b.start, b.stop, own[0])};
  if (count == 2) factors[1] = factors_of(&p->second, second, width, b.first, 0, p->second.depth, own[1]), second = NULL;
  int is_plain = !p->bias && !p->scales && column + width <= p->columns;
  for (long row = b.first; row < b.end; row += TILED_ROWS) {
    long rows = b.end - row < TILED_ROWS ? b.end - row : TILED_ROWS;
    float *c = p->c + row * p->c_stride + column;
    if (is_plain && rows % TILE_SIDE == 0) {
      multiply_tiles((int)(rows / TILE_SIDE), (int)(width / TILE_SIDE), factors, count, c, p->c_stride, b.accumulate);
      add_second(p, second, width, row, rows, c, p->c_stride);
    } else {
      multiply_apart(p, factors, count, second, row, rows, column, b.accumulate);
    }
    for (int which = 0; which < count; which++) factors[which].a += TILED_ROWS * factors[which].a_row;
  }
}

static const bfloat16 *narrow_panel(const struct product *p, long panel, int thread) {
  struct panel found = find_panel(&p->first, panel);
  if (found.format == PANEL_BF16) return found.data;
  bfloat16 *own = (bfloat16 *)(p->panels + thread * p->first.packed_depth * PANEL);
  integers_to_bf16(found.data, even_depth(&p->first) * panel_width(p->columns, panel), own);
  return own;
}

static void multiply_in_tiles(void *context, int piece, int pieces, int thread) {
  const struct product *p = context;
  long panels = panel_count(p->columns), depth = p->first.depth;
  // Sums that a bias or scales come onto are made at once.
  int is_plain = !p->bias && !p->scales && p->first.format == PANEL_BF16 && p->columns % TILE_SIDE == 0;
  long depth_block = is_plain && depth > 2 * DEPTH_BLOCK ? DEPTH_BLOCK : depth;
  long rows = BLOCK_ELEMENTS / depth_block / TILED_ROWS * TILED_ROWS;
  rows = rows < TILED_ROWS ? TILED_ROWS : rows > MOST_BLOCK_ROWS ? MOST_BLOCK_ROWS : rows;
  long units = (p->rows + TILED_ROWS - 1) / TILED_ROWS;
  int by_rows = panels < pieces && units >= pieces;
  long first_row = by_rows ? piece_start(units, piece, pieces) * TILED_ROWS : 0;
  long last_row = by_rows ? piece_start(units, piece + 1, pieces) * TILED_ROWS : p->rows;
  if (last_row > p->rows) last_row = p->rows;
  long first = by_rows ? 0 : piece_start(panels, piece, pieces), end = by_rows ? panels : piece_start(panels, piece + 1, pieces);
  unsigned before = begin_tiles();
  for (long row = first_row; row < last_row; row += rows)
    for (long start = 0; start < depth; start += depth_block)
      for (long panel = first; panel < end; panel++) {
        struct tile_block block = {panel, row, row + rows < last_row ? row + rows : last_row, start,
                                   start + depth_block < depth ? start + depth_block : depth, start > 0 || p->accumulate};
        multiply_tile_block(p, block, narrow_panel(p, panel, thread));
      }
  end_tiles(before);
}
#endif
