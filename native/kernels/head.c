// Log-probabilities, entropies and gradients at the head, on rows of logits in place. A shaped logit is
// (logit + bias) / temperature; sampling uses the same functions, so that what is trained is what was sampled.
#include "head.h"
#include "operation.h"

struct head {
  long rows, vocabulary, stride;
  float *logits;
  const float *inverse_temperatures, *bias_rows;
  const int32_t *bias_of, *targets;
  float *logprobs, *log_sums, *entropies;
  const float *coefficients, *entropy_coefficients, *own_log_sums, *own_entropies;
};

static void log_probability_part(void *context, int piece, int pieces, int thread) {
  (void)thread;
  const struct head *p = context;
  for (long i = piece_start(p->rows, piece, pieces); i < piece_start(p->rows, piece + 1, pieces); i++) {
    float *row = p->logits + i * p->stride;
    const float *bias = p->bias_rows ? p->bias_rows + p->bias_of[i] * p->vocabulary : NULL;
    shape_logits(row, bias, p->inverse_temperatures ? p->inverse_temperatures[i] : 1, p->vocabulary);
    if (p->entropies) {
      struct sums sums = log_sum_and_entropy(row, p->vocabulary);
      p->log_sums[i] = sums.log, p->entropies[i] = sums.entropy;
    } else {
      p->log_sums[i] = log_sum_of(row, p->vocabulary, NULL);
    }
    p->logprobs[i] = row[p->targets[i]] - p->log_sums[i];
  }
}

INLINE vector gradient_of(vector logprob, float factor, float of_entropy, float entropy) {
  // A forbidden token has no share, and its log-probability is not finite.
  vector finite = larger(broadcast(-1e30f), logprob);
  return exponential(logprob) * (-factor - of_entropy * (finite + entropy));
}

// d logprob / d logit = [target] - p; d entropy / d logit = -p (log p + entropy); both over the temperature
static void gradient_part(void *context, int piece, int pieces, int thread) {
  (void)thread;
  const struct head *p = context;
  for (long i = piece_start(p->rows, piece, pieces); i < piece_start(p->rows, piece + 1, pieces); i++) {
    float *row = p->logits + i * p->stride;
    float inverse = p->inverse_temperatures ? p->inverse_temperatures[i] : 1;
    float factor = p->coefficients[i] * inverse, log_sum = p->own_log_sums[i];
    float of_entropy = p->entropy_coefficients ? p->entropy_coefficients[i] * inverse : 0;
    float entropy = p->entropy_coefficients ? p->own_entropies[i] : 0;
    long k = 0;
    for (; k + LANES <= p->vocabulary; k += LANES)
      store(row + k, gradient_of(load(row + k) - log_sum, factor, of_entropy, entropy));
    if (k < p->vocabulary) {
      int rest = (int)(p->vocabulary - k);
      vector logprob = load_some(row + k, rest, 0) - log_sum;
      store_some(row + k, gradient_of(logprob, factor, of_entropy, entropy), rest);
    }
    row[p->targets[i]] += factor;
  }
}

// rows, vocabulary, logits, their stride, inverse temperatures or 0, rows of biases or 0, the row of each, targets,
// log-probabilities, logs of the sums, entropies or 0
static void log_probabilities(const double *arguments, struct team *team) {
  struct reader in = {arguments};
  struct head p = {0};
  p.rows = read_integer(&in), p.vocabulary = read_integer(&in);
  p.logits = read_address(&in), p.stride = read_integer(&in);
  p.inverse_temperatures = read_address(&in);
  p.bias_rows = read_address(&in), p.bias_of = read_address(&in);
  p.targets = read_address(&in);
  p.logprobs = read_address(&in), p.log_sums = read_address(&in), p.entropies = read_address(&in);
  team_run(team, log_probability_part, &p, pieces_for(team, 30.0 * (double)(p.rows * p.vocabulary), p.rows));
}

// rows, vocabulary, shaped logits, their stride, inverse temperatures or 0, targets, logs of the sums, coefficients,
// coefficients of entropies or 0, entropies
static void logit_gradients(const double *arguments, struct team *team) {
  struct reader in = {arguments};
  struct head p = {0};
  p.rows = read_integer(&in), p.vocabulary = read_integer(&in);
  p.logits = read_address(&in), p.stride = read_integer(&in);
  p.inverse_temperatures = read_address(&in), p.targets = read_address(&in);
  p.own_log_sums = read_address(&in), p.coefficients = read_address(&in);
  p.entropy_coefficients = read_address(&in), p.own_entropies = read_address(&in);
  team_run(team, gradient_part, &p, pieces_for(team, 30.0 * (double)(p.rows * p.vocabulary), p.rows));
}
