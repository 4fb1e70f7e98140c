// Rotary position embedding (RoPE, arXiv:2104.09864) in place: dimension i of a head turns with i + rotary / 2.
#include "operation.h"
#include "vector.h"

struct rotate {
  long tokens, heads, head_size, rotary, x_stride;
  float *x;
  const int32_t *positions;
  const float *cosines, *sines;
  float direction;
};

static void rotate_part(void *context, int piece, int pieces, int thread) {
  (void)thread;
  const struct rotate *p = context;
  long half = p->rotary / 2;
  for (long i = piece_start(p->tokens, piece, pieces); i < piece_start(p->tokens, piece + 1, pieces); i++) {
    const float *cosines = p->cosines + p->positions[i] * half, *sines = p->sines + p->positions[i] * half;
    for (long head = 0; head < p->heads; head++) {
      float *low = p->x + i * p->x_stride + head * p->head_size, *high = low + half;
      for (long k = 0; k < half; k++) {
        float sine = p->direction * sines[k], a = low[k], b = high[k];
        low[k] = a * cosines[k] - b * sine;
        high[k] = b * cosines[k] + a * sine;
      }
    }
  }
}

// tokens, heads, head size, rotary dimensions, x, its stride, positions, cosines [positions, rotary / 2], sines,
// direction: 1, or -1 for gradients
static void rotate(const double *arguments, struct team *team) {
  struct reader in = {arguments};
  struct rotate p = {0};
  p.tokens = read_integer(&in), p.heads = read_integer(&in);
  p.head_size = read_integer(&in), p.rotary = read_integer(&in);
  p.x = read_address(&in), p.x_stride = read_integer(&in), p.positions = read_address(&in);
  p.cosines = read_address(&in), p.sines = read_address(&in), p.direction = read_number(&in);
  team_run(team, rotate_part, &p, pieces_for(team, 4.0 * (double)(p.tokens * p.heads * p.head_size), p.tokens));
}
