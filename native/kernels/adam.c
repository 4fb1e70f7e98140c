// AdamW (arXiv:1711.05101) in place, in doubles, and the squares that gradients are clipped by.
#include "operation.h"
#include "vector.h"

struct adam {
  long count;
  float *w, *m, *v;
  const float *g;
  double clip, shrink, beta1, beta2, correction1, correction2, epsilon, rate;
};

static void adam_part(void *context, int piece, int pieces, int thread) {
#if defined(__clang__)
// The same results as in JavaScript, which rounds each product.
#pragma clang fp contract(off)
#endif
  (void)thread;
  const struct adam *p = context;
  long end = piece_start(p->count, piece + 1, pieces);
  for (long i = piece_start(p->count, piece, pieces); i < end; i++) {
    double gradient = (double)p->g[i] * p->clip;
    double first = p->beta1 * (double)p->m[i] + (1 - p->beta1) * gradient;
    double second = p->beta2 * (double)p->v[i] + (1 - p->beta2) * gradient * gradient;
    p->m[i] = (float)first;
    p->v[i] = (float)second;
    p->w[i] = (float)(p->shrink * (double)p->w[i] -
                      p->rate * (first / p->correction1) / (sqrt(second / p->correction2) + p->epsilon));
  }
}

// count, weights, gradients, first moments, second moments, factor of the gradient, factor of the weights (decay), beta1,
// beta2, 1 - beta1^t, 1 - beta2^t, epsilon, learning rate
static void adam_step(const double *arguments, struct team *team) {
  struct reader in = {arguments};
  struct adam p = {0};
  p.count = read_integer(&in);
  p.w = read_address(&in), p.g = read_address(&in), p.m = read_address(&in), p.v = read_address(&in);
  p.clip = read_double(&in), p.shrink = read_double(&in);
  p.beta1 = read_double(&in), p.beta2 = read_double(&in);
  p.correction1 = read_double(&in), p.correction2 = read_double(&in);
  p.epsilon = read_double(&in), p.rate = read_double(&in);
  team_run(team, adam_part, &p, pieces_for(team, 30.0 * (double)p.count, (p.count + 1023) / 1024));
}

enum { SQUARE_BLOCK = 4096 };

struct squares {
  long count;
  const float *x;
  double *blocks;
};

static void square_part(void *context, int piece, int pieces, int thread) {
  (void)thread;
  const struct squares *p = context;
  long blocks = (p->count + SQUARE_BLOCK - 1) / SQUARE_BLOCK;
  for (long b = piece_start(blocks, piece, pieces); b < piece_start(blocks, piece + 1, pieces); b++) {
    long end = (b + 1) * SQUARE_BLOCK < p->count ? (b + 1) * SQUARE_BLOCK : p->count;
    double sum = 0;
    for (long i = b * SQUARE_BLOCK; i < end; i++) sum += (double)p->x[i] * (double)p->x[i];
    p->blocks[1 + b] = sum;
  }
}

// count, numbers, doubles: the sum of squares, and behind it those of blocks of 4096
static void square_sum(const double *arguments, struct team *team) {
  struct reader in = {arguments};
  struct squares p = {0};
  p.count = read_integer(&in), p.x = read_address(&in), p.blocks = read_address(&in);
  long blocks = (p.count + SQUARE_BLOCK - 1) / SQUARE_BLOCK;
  team_run(team, square_part, &p, pieces_for(team, 2.0 * (double)p.count, blocks));
  double sum = 0;
  for (long b = 0; b < blocks; b++) sum += p.blocks[1 + b];
  p.blocks[0] = sum;
}
