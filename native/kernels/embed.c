// Rows of a table by token id, from a matrix as it is stored or packed for the head (`panels.h`).
#include "operation.h"
#include "panels.h"

enum table_kind { TABLE_F32 = 0, TABLE_BF16 = 1, TABLE_PANELS_F32 = 2, TABLE_PANELS_BF16 = 3 };

struct embed {
  long tokens, width, vocabulary, x_stride;
  const int32_t *ids;
  const void *table;
  float *x, *gradient;
  enum table_kind kind;
  float scale;
};

static float entry(const struct embed *p, long id, long k) {
  const float *floats = p->table;
  const bfloat16 *halves = p->table;
  switch (p->kind) {
  case TABLE_F32: return floats[id * p->width + k];
  case TABLE_BF16: return widen(halves[id * p->width + k]);
  case TABLE_PANELS_F32: return floats[panel_index(PANEL_F32, (p->width + 1) / 2 * 2, p->vocabulary, k, id)];
  default: return widen(halves[panel_index(PANEL_BF16, (p->width + 1) / 2 * 2, p->vocabulary, k, id)]);
  }
}

static void embed_part(void *context, int piece, int pieces, int thread) {
  (void)thread;
  const struct embed *p = context;
  for (long i = piece_start(p->tokens, piece, pieces); i < piece_start(p->tokens, piece + 1, pieces); i++)
    for (long k = 0; k < p->width; k++) p->x[i * p->x_stride + k] = entry(p, p->ids[i], k) * p->scale;
}

// Tokens may be alike: each piece has columns of its own, and goes through all tokens in order.
static void embed_backward_part(void *context, int piece, int pieces, int thread) {
  (void)thread;
  const struct embed *p = context;
  long first = piece_start(p->width, piece, pieces), end = piece_start(p->width, piece + 1, pieces);
  for (long i = 0; i < p->tokens; i++)
    for (long k = first; k < end; k++)
      p->gradient[p->ids[i] * p->width + k] += p->x[i * p->x_stride + k] * p->scale;
}

// tokens, width, vocabulary, ids, table, kind, x, its stride, factor
static void embed(const double *arguments, struct team *team) {
  struct reader in = {arguments};
  struct embed p = {0};
  p.tokens = read_integer(&in), p.width = read_integer(&in), p.vocabulary = read_integer(&in);
  p.ids = read_address(&in), p.table = read_address(&in), p.kind = (enum table_kind)read_integer(&in);
  p.x = read_address(&in), p.x_stride = read_integer(&in), p.scale = read_number(&in);
  team_run(team, embed_part, &p, pieces_for(team, 10.0 * (double)(p.tokens * p.width), p.tokens));
}

// tokens, width, ids, gradient of x, its stride, gradient of the table [vocabulary, width] (added to), factor
static void embed_backward(const double *arguments, struct team *team) {
  struct reader in = {arguments};
  struct embed p = {0};
  p.tokens = read_integer(&in), p.width = read_integer(&in);
  p.ids = read_address(&in), p.x = read_address(&in), p.x_stride = read_integer(&in);
  p.gradient = read_address(&in), p.scale = read_number(&in);
  team_run(team, embed_backward_part, &p, pieces_for(team, (double)(p.tokens * p.width), (p.width + 63) / 64));
}
