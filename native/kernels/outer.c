// Gradients of weights: C [I, J] (+)= factor A' B, of A [rows, I] and B [rows, J], summed over rows in order.
#include "operation.h"
#include "tile.h"

enum { MOST_BLOCKS_IN_PLACE = 4 };

struct outer {
  long rows, i_count, j_count, a_stride, b_stride, c_i_stride, c_j_stride;
  const float *a, *b;
  float *c, *panels;
  float factor;
  int accumulate;
};

static void outer_part(void *context, int piece, int pieces, int thread) {
  const struct outer *p = context;
  long panels = panel_count(p->j_count), blocks = (p->i_count + TILE_ROWS - 1) / TILE_ROWS;
  int by_rows = panels < pieces;
  long first = by_rows ? 0 : piece_start(panels, piece, pieces);
  long end = by_rows ? panels : piece_start(panels, piece + 1, pieces);
  long first_block = by_rows ? piece_start(blocks, piece, pieces) : 0;
  long last_block = by_rows ? piece_start(blocks, piece + 1, pieces) : blocks;
  float *panel_rows = p->panels + thread * p->rows * PANEL;
  for (long panel = first; panel < end; panel++) {
    long column = panel * PANEL, width = panel_width(p->j_count, panel);
    long columns = p->j_count - column < width ? p->j_count - column : width;
    // Copied where columns end within the panel, or where it is gone through often.
    int is_own = columns < width || last_block - first_block > MOST_BLOCKS_IN_PLACE;
    const float *b = is_own ? panel_rows : p->b + column;
    long b_stride = is_own ? width : p->b_stride;
    for (long k = 0; is_own && k < p->rows; k++) {
      memcpy(panel_rows + k * width, p->b + k * p->b_stride + column, (size_t)columns * sizeof(float));
      for (long j = columns; j < width; j++) panel_rows[k * width + j] = 0;
    }
    for (long block = first_block; block < last_block; block++) {
      long i = block * TILE_ROWS;
      int rows = (int)(p->i_count - i < TILE_ROWS ? p->i_count - i : TILE_ROWS);
      float tile[TILE_ROWS * PANEL];
      product_tile(rows, (int)width, p->rows, p->a + i, 1, p->a_stride, b, b_stride, tile, width, 0);
      for (int r = 0; r < rows; r++)
        for (long j = 0; j < columns; j++) {
          float *to = p->c + (i + r) * p->c_i_stride + (column + j) * p->c_j_stride, value = tile[r * width + j] * p->factor;
          *to = p->accumulate ? *to + value : value;
        }
    }
  }
}

// rows, I, J, A, its stride, B, its stride, C, its stride, factor, accumulate, scratch [threads, rows, PANEL]
static void outer(const double *arguments, struct team *team) {
  struct reader in = {arguments};
  struct outer p = {0};
  p.rows = read_integer(&in), p.i_count = read_integer(&in), p.j_count = read_integer(&in);
  p.a = read_address(&in), p.a_stride = read_integer(&in);
  p.b = read_address(&in), p.b_stride = read_integer(&in);
  p.c = read_address(&in), p.c_i_stride = read_integer(&in), p.c_j_stride = 1;
  p.factor = read_number(&in), p.accumulate = (int)read_integer(&in), p.panels = read_address(&in);
  // Lanes go along the longer side; the sums are the same.
  if (p.j_count < PANEL && p.j_count < p.i_count)
    p = (struct outer){p.rows, p.j_count, p.i_count, p.b_stride, p.a_stride, 1, p.c_i_stride,
                       p.b, p.a, p.c, p.panels, p.factor, p.accumulate};
  long panels = panel_count(p.j_count), blocks = (p.i_count + TILE_ROWS - 1) / TILE_ROWS;
  double cost = 2.0 * (double)p.rows * (double)p.i_count * (double)p.j_count;
  team_run(team, outer_part, &p, pieces_for(team, cost, panels > blocks ? panels : blocks));
}
