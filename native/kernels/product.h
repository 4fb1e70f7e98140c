// A product, as vectors (`product.c`) and tiles (`tiled_product.h`) compute it.
#pragma once
#include "operation.h"
#include "tiles.h"
#include "widen.h"

struct operand {
  const float *a;
  long a_stride, depth, packed_depth;
  const void *b;
  enum panel_format format;
  // Where scales lie along the depth, or null.
  const float *depth_scales;
  // A in bf16, [rows, depth]: rows are rounded up to TILE_SIDE, the depth to TILE_DEPTH (`tiles.h`).
  bfloat16 *a_narrow;
};

struct product {
  long rows, columns, c_stride;
  struct operand first, second;
  float *c;
  // Scales of the first matrix, by column; or null.
  const float *bias, *scales;
  enum precision precision;
  int accumulate;
  // A panel for each thread, [packed depth of B, PANEL] f32.
  float *panels;
};

// A panel, and the format that it is in after it was widened.
struct panel {
  const void *data;
  enum panel_format format;
};

static long even_depth(const struct operand *o) { return (o->depth + 1) / 2 * 2; }
static long narrow_stride(const struct operand *o) { return HAS_TILES ? round_up(o->depth, TILE_DEPTH) : even_depth(o); }
static int is_narrow(const struct product *p, const struct operand *o) {
  return o->depth > 0 && o->format != PANEL_F32 && p->precision == PRECISION_BF16;
}

static long panel_bytes(const struct operand *o) {
  return PANEL * o->packed_depth * panel_element_bytes(o->format);
}
static struct panel find_panel(const struct operand *o, long panel) {
  return (struct panel){(const char *)o->b + panel * panel_bytes(o), o->format};
}
