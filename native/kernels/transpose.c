// A packed matrix from another one, transposed (`panels.h`): what the backward pass multiplies with.
#include "operation.h"
#include "panels.h"

struct transpose {
  long depth, columns, to_depth;
  const void *from;
  void *to;
  enum panel_format format;
};

static void transpose_part(void *context, int piece, int pieces, int thread) {
  (void)thread;
  const struct transpose *p = context;
  long columns = p->depth, panels = panel_count(columns);
  for (long panel = piece_start(panels, piece, pieces); panel < piece_start(panels, piece + 1, pieces); panel++) {
    long width = panel_width(columns, panel);
    for (long column = panel * PANEL; column < panel * PANEL + width && column < columns; column++)
      for (long row = 0; row < p->columns; row++) {
        long from = panel_index(p->format, p->depth, p->columns, column, row);
        long to = panel_index(p->format, p->to_depth, columns, row, column);
        if (p->format == PANEL_F32) ((float *)p->to)[to] = ((const float *)p->from)[from];
        else ((bfloat16 *)p->to)[to] = ((const bfloat16 *)p->from)[from];
      }
  }
}

// depth, columns, matrix, format (f32, bf16), result of depth `columns` and columns `depth`, its depth rounded up to 2
static void transpose(const double *arguments, struct team *team) {
  struct reader in = {arguments};
  struct transpose p = {0};
  p.depth = read_integer(&in), p.columns = read_integer(&in);
  p.from = read_address(&in), p.format = (enum panel_format)read_integer(&in);
  p.to = read_address(&in), p.to_depth = read_integer(&in);
  team_run(team, transpose_part, &p, pieces_for(team, 8.0 * (double)p.depth * (double)p.columns, panel_count(p.depth)));
}
