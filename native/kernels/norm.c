// Root mean square norm (arXiv:1910.07467), y = x / rms(x) * (offset + weight), of each group of `width` columns.
#include "operation.h"
#include "vector.h"

struct norm {
  long rows, groups, width, x_stride, y_stride, d_stride;
  const float *x, *weight, *dy;
  // Forward: y. Backward: the gradient of x.
  float *y, *weight_gradient;
  float epsilon, offset;
  int accumulate;
};

// Each function goes through a row in vectors and ends with the lanes that are left, always in this order.
static float dot_row(const float *a, const float *b, long width) {
  vector sum = broadcast(0);
  long k = 0;
  for (; k + LANES <= width; k += LANES) sum += load(a + k) * load(b + k);
  if (k < width) sum += load_some(a + k, (int)(width - k), 0) * load_some(b + k, (int)(width - k), 0);
  return sum_lanes(sum);
}

static float inverse_root(const struct norm *p, const float *x) {
  return 1 / sqrtf(dot_row(x, x, p->width) / (float)p->width + p->epsilon);
}

static void norm_part(void *context, int piece, int pieces, int thread) {
  (void)thread;
  const struct norm *p = context;
  long units = p->rows * p->groups;
  for (long unit = piece_start(units, piece, pieces); unit < piece_start(units, piece + 1, pieces); unit++) {
    const float *x = p->x + unit / p->groups * p->x_stride + unit % p->groups * p->width;
    float *y = p->y + unit / p->groups * p->y_stride + unit % p->groups * p->width;
    float inverse = inverse_root(p, x);
    for (long k = 0; k < p->width; k++) {
      float value = x[k] * inverse * (p->offset + p->weight[k]);
      y[k] = p->accumulate ? y[k] + value : value;
    }
  }
}

// dx = g s - x (x . g) s^3 / width, where g = dy (offset + weight) and s = 1 / rms(x)
static void norm_backward_part(void *context, int piece, int pieces, int thread) {
  (void)thread;
  const struct norm *p = context;
  long units = p->rows * p->groups;
  for (long unit = piece_start(units, piece, pieces); unit < piece_start(units, piece + 1, pieces); unit++) {
    long row = unit / p->groups, column = unit % p->groups * p->width;
    const float *x = p->x + row * p->x_stride + column, *dy = p->dy + row * p->d_stride + column;
    float *dx = p->y + row * p->y_stride + column;
    float inverse = inverse_root(p, x);
    vector sum = broadcast(0);
    long k = 0;
    for (; k + LANES <= p->width; k += LANES)
      sum += load(x + k) * load(dy + k) * (load(p->weight + k) + p->offset);
    if (k < p->width) {
      int rest = (int)(p->width - k);
      sum += load_some(x + k, rest, 0) * load_some(dy + k, rest, 0) *
             (load_some(p->weight + k, rest, 0) + p->offset);
    }
    float slope = sum_lanes(sum) * inverse * inverse * inverse / (float)p->width;
    for (k = 0; k < p->width; k++) {
      float value = dy[k] * (p->offset + p->weight[k]) * inverse - x[k] * slope;
      dx[k] = p->accumulate ? dx[k] + value : value;
    }
  }
}

// Each piece has columns of its own, and goes through all rows in order.
static void norm_weight_part(void *context, int piece, int pieces, int thread) {
  (void)thread;
  const struct norm *p = context;
  long first = piece_start(p->width, piece, pieces), end = piece_start(p->width, piece + 1, pieces);
  for (long unit = 0; unit < p->rows * p->groups; unit++) {
    long row = unit / p->groups, column = unit % p->groups * p->width;
    const float *x = p->x + row * p->x_stride + column, *dy = p->dy + row * p->d_stride + column;
    float inverse = inverse_root(p, x);
    for (long k = first; k < end; k++) p->weight_gradient[k] += dy[k] * x[k] * inverse;
  }
}

// rows, groups, width, x, its stride, weight, y, its stride, epsilon, offset, accumulate
static void norm(const double *arguments, struct team *team) {
  struct reader in = {arguments};
  struct norm p = {0};
  p.rows = read_integer(&in), p.groups = read_integer(&in), p.width = read_integer(&in);
  p.x = read_address(&in), p.x_stride = read_integer(&in), p.weight = read_address(&in);
  p.y = read_address(&in), p.y_stride = read_integer(&in);
  p.epsilon = read_number(&in), p.offset = read_number(&in), p.accumulate = (int)read_integer(&in);
  long units = p.rows * p.groups;
  team_run(team, norm_part, &p, pieces_for(team, 4.0 * (double)(units * p.width), units));
}

// rows, groups, width, x, its stride, weight, dx, its stride, epsilon, offset, accumulate, dy, its stride, gradient of
// the weight (added to) or 0
static void norm_backward(const double *arguments, struct team *team) {
  struct reader in = {arguments};
  struct norm p = {0};
  p.rows = read_integer(&in), p.groups = read_integer(&in), p.width = read_integer(&in);
  p.x = read_address(&in), p.x_stride = read_integer(&in), p.weight = read_address(&in);
  p.y = read_address(&in), p.y_stride = read_integer(&in);
  p.epsilon = read_number(&in), p.offset = read_number(&in), p.accumulate = (int)read_integer(&in);
  p.dy = read_address(&in), p.d_stride = read_integer(&in), p.weight_gradient = read_address(&in);
  long units = p.rows * p.groups;
  double cost = 8.0 * (double)(units * p.width);
  // Before dx, which may be where x or dy is.
  if (p.weight_gradient) team_run(team, norm_weight_part, &p, pieces_for(team, cost, (p.width + 63) / 64));
  team_run(team, norm_backward_part, &p, pieces_for(team, cost, units));
}
