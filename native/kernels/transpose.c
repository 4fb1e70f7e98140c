// A packed matrix from another one, transposed (`panels.h`): what the backward pass multiplies with.
#include "operation.h"
#include "words.h"

struct transpose {
  long depth, columns, to_depth;
  const void *from;
  void *to;
  enum panel_format format;
};

// BLOCK rows of a panel, which are pairs there, as rows of their own.
static void split_pairs(const bfloat16 *from, long rows, long width, bfloat16 *to) {
  for (long row = 0; row < rows; row += 2, from += 2 * width, to += 2 * PANEL)
    for (long j = 0; j < width; j++) {
      to[j] = from[2 * j];
      to[PANEL + j] = from[2 * j + 1];
    }
}

// Squares of 2 x 2 are words on both sides, with the two in the middle changed over.
static void transpose_integers(void *context, int piece, int pieces, int thread) {
  (void)thread;
  const struct transpose *p = context;
  long blocks = (p->depth + BLOCK - 1) / BLOCK;
  long first = piece_start(blocks, piece, pieces) * BLOCK, end = piece_start(blocks, piece + 1, pieces) * BLOCK;
  for (long column = first; column < end && column < p->depth; column += 2)
    for (long panel = 0; panel < panel_count(p->columns); panel++) {
      long row = panel * PANEL, width = panel_width(p->columns, panel), to_width = panel_width(p->depth, column / PANEL);
      long count = p->to_depth - row < width ? p->to_depth - row : width;
      const int8_t *from = (const int8_t *)p->from + panel_index(PANEL_INT8, p->depth, p->columns, column, row);
      int8_t *to = (int8_t *)p->to + panel_index(PANEL_INT8, p->to_depth, p->depth, row, column);
      for (long j = 0; j < count; j += 2, from += 4, to += 2 * to_width) {
        int8_t square[] = {from[0], from[2], from[1], from[3]};
        memcpy(to, square, sizeof square);
      }
    }
}

static void transpose_part(void *context, int piece, int pieces, int thread) {
  (void)thread;
  const struct transpose *p = context;
  long blocks = (p->depth + BLOCK - 1) / BLOCK, pair = p->format == PANEL_BF16 ? 2 : 1;
  for (long block = piece_start(blocks, piece, pieces); block < piece_start(blocks, piece + 1, pieces); block++) {
    long column = block * BLOCK, rows = p->depth - column < BLOCK ? p->depth - column : BLOCK;
    long to_width = panel_width(p->depth, column / PANEL);
    for (long panel = 0; panel < panel_count(p->columns); panel++) {
      long row = panel * PANEL, width = panel_width(p->columns, panel);
      long count = p->to_depth - row < width ? p->to_depth - row : width;
      long from = panel_index(p->format, p->depth, p->columns, column, row) / pair;
      long to = panel_index(p->format, p->to_depth, p->depth, row, column) / pair;
      int32_t *words = (int32_t *)p->to + to;
      if (pair == 1) {
        write_words((const int32_t *)p->from + from, width, rows, count, words, to_width);
      } else {
        int32_t own[BLOCK * PANEL / 2];
        split_pairs((const bfloat16 *)p->from + 2 * from, rows, width, (bfloat16 *)own);
        write_words(own, PANEL / 2, rows, count / 2, words, to_width);
      }
    }
  }
}

// depth, columns, matrix, format, result of depth `columns` and columns `depth`, its depth rounded up to 2
static void transpose(const double *arguments, struct team *team) {
  struct reader in = {arguments};
  struct transpose p = {0};
  p.depth = read_integer(&in), p.columns = read_integer(&in);
  p.from = read_address(&in), p.format = (enum panel_format)read_integer(&in);
  p.to = read_address(&in), p.to_depth = read_integer(&in);
  team_run(team, p.format == PANEL_INT8 ? transpose_integers : transpose_part, &p,
           pieces_for(team, 4.0 * (double)p.depth * (double)p.columns, (p.depth + BLOCK - 1) / BLOCK));
}
