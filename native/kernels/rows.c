// Rows copied, added, taken and put back.
#include "operation.h"
#include "vector.h"

struct rows {
  long rows, width, from_stride, to_stride;
  const float *from;
  float *to;
  const int32_t *indices;
  int accumulate;
};

static void copy_row(float *to, const float *from, long width, int accumulate) {
  if (!accumulate) {
    memcpy(to, from, (size_t)width * sizeof *to);
    return;
  }
  for (long k = 0; k < width; k++) to[k] += from[k];
}

static void copy_part(void *context, int piece, int pieces, int thread) {
  (void)thread;
  const struct rows *p = context;
  for (long i = piece_start(p->rows, piece, pieces); i < piece_start(p->rows, piece + 1, pieces); i++)
    copy_row(p->to + i * p->to_stride, p->from + i * p->from_stride, p->width, p->accumulate);
}

static void gather_part(void *context, int piece, int pieces, int thread) {
  (void)thread;
  const struct rows *p = context;
  for (long i = piece_start(p->rows, piece, pieces); i < piece_start(p->rows, piece + 1, pieces); i++)
    copy_row(p->to + i * p->to_stride, p->from + p->indices[i] * p->from_stride, p->width, p->accumulate);
}

// Rows may go to one place: each piece has columns of its own, and goes through all rows in order.
static void scatter_part(void *context, int piece, int pieces, int thread) {
  (void)thread;
  const struct rows *p = context;
  long first = piece_start(p->width, piece, pieces), end = piece_start(p->width, piece + 1, pieces);
  for (long i = 0; i < p->rows; i++)
    copy_row(p->to + p->indices[i] * p->to_stride + first, p->from + i * p->from_stride + first, end - first,
             p->accumulate);
}

static struct rows read_rows(const double *arguments) {
  struct reader in = {arguments};
  struct rows p = {0};
  p.rows = read_integer(&in), p.width = read_integer(&in);
  p.from = read_address(&in), p.from_stride = read_integer(&in);
  p.to = read_address(&in), p.to_stride = read_integer(&in);
  p.accumulate = (int)read_integer(&in), p.indices = read_address(&in);
  return p;
}

// All three: rows, width, from, its stride, to, its stride, accumulate, indices or 0
static void copy_rows(const double *arguments, struct team *team) {
  struct rows p = read_rows(arguments);
  team_run(team, copy_part, &p, pieces_for(team, (double)(p.rows * p.width), p.rows));
}
static void gather_rows(const double *arguments, struct team *team) {
  struct rows p = read_rows(arguments);
  team_run(team, gather_part, &p, pieces_for(team, (double)(p.rows * p.width), p.rows));
}
static void scatter_rows(const double *arguments, struct team *team) {
  struct rows p = read_rows(arguments);
  team_run(team, scatter_part, &p, pieces_for(team, (double)(p.rows * p.width), (p.width + 63) / 64));
}
