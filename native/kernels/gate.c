// Gated activation (arXiv:2002.05202): y = activation(gate) * up, where a row is gate and, behind it, up.
#include "operation.h"
#include "vector.h"

enum activation { SILU = 0, GELU_TANH = 1 };

struct gate {
  long rows, width, x_stride, y_stride, d_stride;
  const float *x, *dy;
  float *y;
  enum activation activation;
};

struct activated {
  vector value, gradient;
};

INLINE struct activated activate(enum activation activation, vector x) {
  if (activation == SILU) {
    vector sigmoid = 1 / (1 + exponential(-x));
    return (struct activated){x * sigmoid, sigmoid * (x * (1 - sigmoid) + 1)};
  }
  // x / 2 (1 + tanh(u)) = x sigmoid(2 u), u = sqrt(2 / pi) (x + 0.044715 x^3)
  const float root = 0.7978845608f, cube = 0.044715f;
  // Beyond 20 the sigmoid is 0 or 1, and powers would overflow.
  vector near = smaller(broadcast(20), larger(broadcast(-20), x));
  vector inner = 2 * root * (near + cube * near * near * near);
  vector sigmoid = 1 / (1 + exponential(-inner));
  vector slope = 2 * root * (1 + 3 * cube * near * near);
  return (struct activated){x * sigmoid, sigmoid + x * sigmoid * (1 - sigmoid) * slope};
}

static void gate_part(void *context, int piece, int pieces, int thread) {
  (void)thread;
  const struct gate *p = context;
  for (long i = piece_start(p->rows, piece, pieces); i < piece_start(p->rows, piece + 1, pieces); i++) {
    const float *gate = p->x + i * p->x_stride, *up = gate + p->width;
    float *y = p->y + i * p->y_stride;
    long k = 0;
    for (; k + LANES <= p->width; k += LANES)
      store(y + k, activate(p->activation, load(gate + k)).value * load(up + k));
    if (k < p->width) {
      int rest = (int)(p->width - k);
      vector value = activate(p->activation, load_some(gate + k, rest, 0)).value * load_some(up + k, rest, 0);
      store_some(y + k, value, rest);
    }
  }
}

static void gate_backward_part(void *context, int piece, int pieces, int thread) {
  (void)thread;
  const struct gate *p = context;
  for (long i = piece_start(p->rows, piece, pieces); i < piece_start(p->rows, piece + 1, pieces); i++) {
    const float *gate = p->x + i * p->x_stride, *up = gate + p->width, *dy = p->dy + i * p->d_stride;
    float *d_gate = p->y + i * p->y_stride, *d_up = d_gate + p->width;
    long k = 0;
    for (; k + LANES <= p->width; k += LANES) {
      vector d = load(dy + k), u = load(up + k);
      struct activated activated = activate(p->activation, load(gate + k));
      store(d_up + k, d * activated.value);
      store(d_gate + k, d * u * activated.gradient);
    }
    if (k < p->width) {
      int rest = (int)(p->width - k);
      vector d = load_some(dy + k, rest, 0), u = load_some(up + k, rest, 0);
      struct activated activated = activate(p->activation, load_some(gate + k, rest, 0));
      store_some(d_up + k, d * activated.value, rest);
      store_some(d_gate + k, d * u * activated.gradient, rest);
    }
  }
}

// rows, width, gate and up, their stride, y, its stride, activation
static void gate(const double *arguments, struct team *team) {
  struct reader in = {arguments};
  struct gate p = {0};
  p.rows = read_integer(&in), p.width = read_integer(&in);
  p.x = read_address(&in), p.x_stride = read_integer(&in);
  p.y = read_address(&in), p.y_stride = read_integer(&in);
  p.activation = (enum activation)read_integer(&in);
  team_run(team, gate_part, &p, pieces_for(team, 20.0 * (double)(p.rows * p.width), p.rows));
}

// rows, width, gate and up, their stride, gradients of them, their stride, activation, dy, its stride
static void gate_backward(const double *arguments, struct team *team) {
  struct reader in = {arguments};
  struct gate p = {0};
  p.rows = read_integer(&in), p.width = read_integer(&in);
  p.x = read_address(&in), p.x_stride = read_integer(&in);
  p.y = read_address(&in), p.y_stride = read_integer(&in);
  p.activation = (enum activation)read_integer(&in);
  p.dy = read_address(&in), p.d_stride = read_integer(&in);
  team_run(team, gate_backward_part, &p, pieces_for(team, 30.0 * (double)(p.rows * p.width), p.rows));
}
