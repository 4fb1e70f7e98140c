// C [rows, columns] (+)= A [rows, depth] B (+ A2 B2), where B is packed (`panels.h`) as f32, bf16 or integers of 8
// bits. A second, shallow product is added to each tile while it is in the cache: the factors of an adapter.
#include "product.h"
#include "tile.h"
#include "tiled_product.h"

// Rows that stay in the cache while the panels go by.
enum { ROW_BLOCK = 96 };

// With more, what a panel takes to come matters little.
enum { MOST_TILES_AHEAD = 8 };

// A tile of C, and what to have in the cache for a later one, or NULL.
struct tile {
  long row;
  int rows, width;
  float *c;
  long c_stride;
  const char *ahead;
};

static void narrow_operand(const struct operand *o, long row) {
  enum { CHUNK = 64 };
  long stride = narrow_stride(o);
  const float *from = o->a + row * o->a_stride;
  bfloat16 *to = o->a_narrow + row * stride;
  for (long k = o->depth; k < stride; k++) to[k] = 0;
  if (!o->depth_scales) {
    narrow_all(to, from, o->depth);
    return;
  }
  for (long k = 0; k < o->depth; k += CHUNK) {
    float scaled[CHUNK];
    long count = o->depth - k < CHUNK ? o->depth - k : CHUNK;
    for (long i = 0; i < count; i++) scaled[i] = from[k + i] * o->depth_scales[k + i];
    narrow_all(to + k, scaled, count);
  }
}

static void narrow_rows(void *context, int piece, int pieces, int thread) {
  (void)thread;
  const struct product *p = context;
  for (long row = piece_start(p->rows, piece, pieces); row < piece_start(p->rows, piece + 1, pieces); row++) {
    if (is_narrow(p, &p->first)) narrow_operand(&p->first, row);
    if (is_narrow(p, &p->second)) narrow_operand(&p->second, row);
  }
}

// In the format that tiles of so many rows are fastest with; the sums are the same.
static struct panel prepare_panel(const struct product *p, struct panel panel, long width, long rows, int thread) {
  const struct operand *o = &p->first;
  float *own = p->panels + thread * o->packed_depth * PANEL;
  int is_shared = rows > 2 * TILE_ROWS;
  // Pairs that are widened in registers would end beyond an odd depth.
  int is_odd = o->depth % 2 != 0;
  if (panel.format == PANEL_F32) return panel;
  if (p->precision == PRECISION_F32 && (is_shared || is_odd || o->depth_scales)) {
    widen_panel(panel.format, panel.data, o->depth, width, o->depth_scales, own);
    return (struct panel){own, PANEL_F32};
  }
  if (p->precision == PRECISION_BF16 && panel.format == PANEL_INT8 && is_shared) {
    integers_to_bf16(panel.data, even_depth(o) * width, (bfloat16 *)own);
    return (struct panel){own, PANEL_BF16};
  }
  return panel;
}

static void multiply_operand(const struct operand *o, enum precision precision, struct panel panel, struct tile t,
                             int accumulate) {
  const float *a = o->a + t.row * o->a_stride;
  long stride = narrow_stride(o);
  const bfloat16 *narrow = o->a_narrow + t.row * stride;
#define FLOATS(r, v) tile_f32(r, v, o->depth, a, o->a_stride, 1, panel.data, t.width, t.c, t.c_stride, accumulate, t.ahead)
#define WIDENED(format, r, v)                                                                                \
  tile_widened(format, r, v, o->depth, a, o->a_stride, panel.data, t.c, t.c_stride, accumulate, t.ahead)
#define NARROW(format, r, v)                                                                                 \
  tile_bf16(format, r, v, even_depth(o), narrow, stride, panel.data, t.c, t.c_stride, accumulate, t.ahead)
#define WIDENED_BF16(r, v) WIDENED(PANEL_BF16, r, v)
#define WIDENED_INT8(r, v) WIDENED(PANEL_INT8, r, v)
#define NARROW_BF16(r, v) NARROW(PANEL_BF16, r, v)
#define NARROW_INT8(r, v) NARROW(PANEL_INT8, r, v)
  if (panel.format == PANEL_F32) {
    TILE(t.rows, t.width, FLOATS)
  } else if (precision == PRECISION_F32) {
    if (panel.format == PANEL_BF16) { TILE(t.rows, t.width, WIDENED_BF16) }
    else { TILE(t.rows, t.width, WIDENED_INT8) }
  } else {
    if (panel.format == PANEL_BF16) { TILE(t.rows, t.width, NARROW_BF16) }
    else { TILE(t.rows, t.width, NARROW_INT8) }
  }
#undef FLOATS
#undef WIDENED
#undef NARROW
#undef WIDENED_BF16
#undef WIDENED_INT8
#undef NARROW_BF16
#undef NARROW_INT8
}

// The first operand, and onto it the second.
static void multiply_operands(const struct product *p, const struct panel panels[2], struct tile t, int accumulate,
                              int with_first) {
  if (with_first) multiply_operand(&p->first, p->precision, panels[0], t, accumulate);
  t.ahead = NULL;
  if (p->second.depth > 0) multiply_operand(&p->second, p->precision, panels[1], t, 1);
}

// A tile whose first sums are not simply what is stored: narrower than the panel, with a bias or scales.
static void multiply_edge(const struct product *p, const struct panel panels[2], struct tile t, long column) {
  float sums[TILE_ROWS * PANEL];
  int width = t.width, rows = t.rows;
  long columns = p->columns - column < width ? p->columns - column : width;
  float *c = t.c;
  const float *bias = p->bias ? p->bias + column : NULL;
  const float *scales = p->scales ? p->scales + column : NULL;
  t.c = sums, t.c_stride = width;
  memset(sums, 0, sizeof sums);
  if (scales) multiply_operand(&p->first, p->precision, panels[0], t, 0);
  for (int i = 0; i < rows; i++)
    for (long j = 0; j < columns; j++) {
      float start = (p->accumulate ? c[i * p->c_stride + j] : 0) + (bias ? bias[j] : 0);
      sums[i * width + j] = scales ? start + sums[i * width + j] * scales[j] : start;
    }
  multiply_operands(p, panels, t, 1, !scales);
  for (int i = 0; i < rows; i++)
    for (long j = 0; j < columns; j++) c[i * p->c_stride + j] = sums[i * width + j];
}

// `next` is the panel that comes after this one.
static void multiply_panel(const struct product *p, long panel, long next, long first, long end, int thread) {
  int width = (int)panel_width(p->columns, panel);
  long column = panel * PANEL;
  const struct panel panels[2] = {
      prepare_panel(p, find_panel(&p->first, panel), width, end - first, thread),
      find_panel(&p->second, panel),
  };
  int is_plain = !p->bias && !p->scales && column + width <= p->columns;
  // Tiles of one height: a low one at the end would wait for its own sums.
  long tiles = (end - first + TILE_ROWS - 1) / TILE_ROWS;
  long steps = panels[0].format == PANEL_F32 ? p->first.depth : p->first.depth / 2, asked = 0;
  const char *ahead = find_panel(&p->first, next).data;
  for (long i = 0; i < tiles; i++) {
    long row = first + (end - first) * i / tiles, last = first + (end - first) * (i + 1) / tiles;
    float *c = p->c + row * p->c_stride + column;
    int is_ahead = tiles > 1 && tiles <= MOST_TILES_AHEAD && asked < panel_bytes(&p->first);
    struct tile t = {row, (int)(last - row), width, c, p->c_stride, is_ahead ? ahead + asked : NULL};
    if (is_plain) multiply_operands(p, panels, t, p->accumulate, 1);
    else multiply_edge(p, panels, t, column);
    asked += steps * 64 * lines_ahead(t.rows);
  }
}

static void multiply(void *context, int piece, int pieces, int thread) {
  const struct product *p = context;
  long panels = panel_count(p->columns), blocks = (p->rows + ROW_BLOCK - 1) / ROW_BLOCK;
  int by_rows = blocks >= 2 * pieces && panels < 2 * pieces;
  long block = by_rows ? piece_start(blocks, piece, pieces) : 0;
  long last_block = by_rows ? piece_start(blocks, piece + 1, pieces) : blocks;
  long first = by_rows ? 0 : piece_start(panels, piece, pieces);
  long end = by_rows ? panels : piece_start(panels, piece + 1, pieces);
  for (; block < last_block; block++) {
    long last_row = (block + 1) * ROW_BLOCK < p->rows ? (block + 1) * ROW_BLOCK : p->rows;
    for (long panel = first; panel < end; panel++)
      multiply_panel(p, panel, panel + 1 < end ? panel + 1 : first, block * ROW_BLOCK, last_row, thread);
  }
}

static struct operand read_operand(struct reader *in) {
  struct operand o = {0};
  o.a = read_address(in), o.a_stride = read_integer(in);
  o.depth = read_integer(in);
  o.b = read_address(in), o.packed_depth = read_integer(in), o.format = (enum panel_format)read_integer(in);
  o.a_narrow = read_address(in);
  return o;
}

// rows, columns, C, its stride, accumulate, bias or 0, scales or 0, precision, scratch [threads, packed depth, PANEL]
// f32; then twice A, its stride, depth, B, packed depth, format, scratch [rows, depth] bf16: the second depth may be 0.
// Format 3 is of integers whose scales are by depth, as those of a transposed matrix are.
static void product(const double *arguments, struct team *team) {
  struct reader in = {arguments};
  struct product p = {0};
  p.rows = read_integer(&in), p.columns = read_integer(&in);
  p.c = read_address(&in), p.c_stride = read_integer(&in), p.accumulate = (int)read_integer(&in);
  p.bias = read_address(&in), p.scales = read_address(&in);
  p.precision = (enum precision)read_integer(&in), p.panels = read_address(&in);
  p.first = read_operand(&in), p.second = read_operand(&in);
  if (p.first.format == PANEL_INT8_BY_DEPTH) {
    p.first.format = PANEL_INT8, p.first.depth_scales = p.scales;
    p.scales = NULL;
  }
  double cost = 2.0 * (double)p.rows * (double)p.first.depth * (double)p.columns;
  long panels = panel_count(p.columns), blocks = (p.rows + ROW_BLOCK - 1) / ROW_BLOCK;
  if (is_narrow(&p, &p.first) || is_narrow(&p, &p.second))
    team_run(team, narrow_rows, &p, pieces_for(team, (double)(p.rows * p.first.depth), p.rows));
#if HAS_TILES
  if (is_narrow(&p, &p.first)) {
    team_run(team, multiply_in_tiles, &p, pieces_for(team, cost, panels > blocks ? panels : blocks));
    return;
  }
#endif
  team_run(team, multiply, &p, pieces_for(team, cost, panels > blocks ? panels : blocks));
}
