// Matrices packed for products: `depth` x `columns`, in panels of PANEL columns. The last panel is as wide as it has
// to be, rounded up to 16. Depth is even. Columns beyond the matrix are zero.
//   f32   [depth][width]
//   bf16  [depth / 2][width][2]
//   int8  [depth / 2][width][2], with a scale for each column, or for each depth of a transposed matrix
#pragma once
#include "vector.h"

#if defined(__AVX512F__)
enum { PANEL = 64, TILE_ROWS = 6 }; // 24 of 32 registers of 16 lanes
#elif defined(__AVX2__)
enum { PANEL = 16, TILE_ROWS = 6 }; // 12 of 16 registers of 8 lanes
#else
enum { PANEL = 16, TILE_ROWS = 6 }; // 24 of 32 registers of 4 lanes
#endif

enum panel_format { PANEL_F32 = 0, PANEL_BF16 = 1, PANEL_INT8 = 2, PANEL_INT8_BY_DEPTH = 3 };
enum precision { PRECISION_F32 = 0, PRECISION_BF16 = 1 };

INLINE long round_up(long value, long unit) { return (value + unit - 1) / unit * unit; }
INLINE long panel_count(long columns) { return (columns + PANEL - 1) / PANEL; }
INLINE long panel_width(long columns, long panel) {
  long rest = columns - panel * PANEL;
  return rest >= PANEL ? PANEL : (rest + 15) / 16 * 16;
}
// Of the element at `row` of `column`, in elements.
INLINE long panel_index(enum panel_format format, long depth, long columns, long row, long column) {
  long panel = column / PANEL, width = panel_width(columns, panel), own = column % PANEL;
  long start = panel * PANEL * depth;
  if (format == PANEL_F32) return start + row * width + own;
  return start + row / 2 * width * 2 + own * 2 + row % 2;
}
