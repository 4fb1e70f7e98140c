// Samples a token of each row of logits. The order of filters is that of Hugging Face and vLLM: temperature, top-k,
// top-p, min-p; ties go to the smaller id. Log-probabilities are those of `log_probabilities`, bit for bit.
#include "head.h"
#include "operation.h"

struct sample {
  long rows, vocabulary, stride, scratch_floats;
  float *logits, *scratch;
  const double *uniforms;
  const float *temperatures, *top_ps, *min_ps, *bias_rows;
  const int32_t *top_ks, *bias_of;
  int32_t *tokens;
  float *logprobs, *tempered;
};

static long most_likely(const float *row, long size) {
  float most = largest_of(row, size);
  for (long k = 0; k < size; k++)
    if (row[k] == most) return k;
  return 0;
}

// The first id at which the sum of masses exceeds `target`, or else the last one that has any.
static long inverse_of(const float *masses, const int32_t *ids, long count, double target) {
  long last = 0;
  for (long k = 0; k < count; k++) {
    long id = ids ? ids[k] : k;
    if (masses[id] == 0) continue;
    last = id;
    target -= masses[id];
    if (target < 0) return id;
  }
  return last;
}

// Sums of so many masses: a sample is looked for in one block alone. In lanes that are the same on every machine.
enum { MASS_BLOCK = 256, MASS_LANES = 16 };

static double block_sum(const float *masses, long count) {
  double lanes[MASS_LANES] = {0}, sum = 0;
  long k = 0;
  for (; k + MASS_LANES <= count; k += MASS_LANES)
    for (int lane = 0; lane < MASS_LANES; lane++) lanes[lane] += (double)masses[k + lane];
  for (; k < count; k++) lanes[k % MASS_LANES] += (double)masses[k];
  for (int lane = 0; lane < MASS_LANES; lane++) sum += lanes[lane];
  return sum;
}

static double sum_of_all(const float *masses, long size) {
  double sum = 0;
  for (long k = 0; k < size; k += MASS_BLOCK) sum += block_sum(masses + k, size - k < MASS_BLOCK ? size - k : MASS_BLOCK);
  return sum;
}

// As `inverse_of` of all ids, block by block.
static long inverse_of_all(const float *masses, long size, double target) {
  long last = 0;
  for (long k = 0; k < size; k += MASS_BLOCK) {
    long count = size - k < MASS_BLOCK ? size - k : MASS_BLOCK;
    double sum = block_sum(masses + k, count);
    if (sum == 0) continue;
    last = k + inverse_of(masses + k, NULL, count, target);
    if (target < sum) return last;
    target -= sum;
  }
  return last;
}

static int is_before(const float *masses, int32_t a, int32_t b) {
  return masses[a] != masses[b] ? masses[a] > masses[b] : a < b;
}

// Sorts ids by mass, descending: heap sort, whose work is bounded for any input.
static void sink(const float *masses, int32_t *ids, long at, long count) {
  for (;;) {
    long child = 2 * at + 1;
    if (child >= count) return;
    if (child + 1 < count && is_before(masses, ids[child], ids[child + 1])) child++;
    if (!is_before(masses, ids[at], ids[child])) return;
    int32_t id = ids[at];
    ids[at] = ids[child], ids[child] = id;
    at = child;
  }
}
static void sort_ids(const float *masses, int32_t *ids, long count) {
  for (long i = count / 2 - 1; i >= 0; i--) sink(masses, ids, i, count);
  for (long end = count - 1; end > 0; end--) {
    int32_t id = ids[0];
    ids[0] = ids[end], ids[end] = id;
    sink(masses, ids, 0, end);
  }
}

static double sum_of(const float *masses, const int32_t *ids, long count) {
  double sum = 0;
  for (long k = 0; k < count; k++) sum += masses[ids[k]];
  return sum;
}

// How many of the sorted ids reach `limit`, at least one.
static long nucleus(const float *masses, const int32_t *ids, long count, double limit) {
  double mass = 0;
  long kept = 0;
  while (kept < count && (kept == 0 || mass < limit)) mass += masses[ids[kept++]];
  return kept;
}

// The ids of masses from `floor` on, sorted. The largest mass is 1.
static long ids_from(const float *masses, long size, float floor, int32_t *ids) {
  long count = 0;
  for (long k = 0; k < size; k++)
    if (masses[k] >= floor) ids[count++] = (int32_t)k;
  sort_ids(masses, ids, count);
  return count;
}

static long sample_filtered(const float *masses, int32_t *ids, long size, long top_k, float top_p, float min_p,
                            double uniform) {
  double limit = top_p < 1 ? top_p * sum_of_all(masses, size) : 0;
  long count = 0;
  if (top_k == 0 && top_p >= 1) count = ids_from(masses, size, min_p, ids);
  else
    // Mostly a handful is kept: sorting the whole vocabulary would take longer than the model.
    for (float floor = 1.f / 64;; floor = floor > 1e-30f ? floor / 64 : 0) {
      count = ids_from(masses, size, floor, ids);
      int is_enough = top_k > 0 ? count >= top_k : sum_of(masses, ids, count) >= limit;
      if (is_enough || floor == 0) break;
    }
  if (top_k > 0 && count > top_k) count = top_k;
  if (top_k > 0 && top_p < 1) limit = top_p * sum_of(masses, ids, count);
  if (top_p < 1) count = nucleus(masses, ids, count, limit);
  long kept = 0;
  for (long k = 0; k < count; k++)
    if (masses[ids[k]] >= min_p * masses[ids[0]]) ids[kept++] = ids[k];
  return inverse_of(masses, ids, kept, uniform * sum_of(masses, ids, kept));
}

static void sample_row(const struct sample *p, long i, float *masses, int32_t *ids) {
  long size = p->vocabulary;
  float *row = p->logits + i * p->stride, temperature = p->temperatures[i];
  shape_logits(row, p->bias_rows ? p->bias_rows + p->bias_of[i] * size : NULL, 1, size);
  float log_sum = log_sum_of(row, size, temperature == 1 ? masses : NULL);
  p->tokens[i] = 0;
  p->logprobs[i] = p->tempered[i] = NAN;
  if (!(log_sum - log_sum == 0)) return;
  if (temperature == 0) {
    long token = most_likely(row, size);
    p->tokens[i] = (int32_t)token;
    p->logprobs[i] = p->tempered[i] = row[token] - log_sum;
    return;
  }
  float tempered_sum = log_sum;
  const float *tempered = row;
  if (temperature != 1) {
    // As `log_probabilities` shapes them; the biases are in the row already.
    float inverse = 1 / temperature, *shaped = masses + size;
    for (long k = 0; k < size; k++) shaped[k] = row[k] * inverse;
    tempered_sum = log_sum_of(shaped, size, masses);
    tempered = shaped;
  }
  int is_filtered = p->top_ks[i] > 0 || p->top_ps[i] < 1 || p->min_ps[i] > 0;
  long token = is_filtered ? sample_filtered(masses, ids, size, p->top_ks[i], p->top_ps[i], p->min_ps[i], p->uniforms[i])
                           : inverse_of_all(masses, size, p->uniforms[i] * sum_of_all(masses, size));
  p->tokens[i] = (int32_t)token;
  p->logprobs[i] = row[token] - log_sum;
  p->tempered[i] = tempered[token] - tempered_sum;
}

static void sample_part(void *context, int piece, int pieces, int thread) {
  const struct sample *p = context;
  float *masses = p->scratch + thread * p->scratch_floats;
  int32_t *ids = (int32_t *)(masses + 2 * p->vocabulary);
  for (long i = piece_start(p->rows, piece, pieces); i < piece_start(p->rows, piece + 1, pieces); i++)
    sample_row(p, i, masses, ids);
}

// rows, vocabulary, logits, their stride, uniform numbers (doubles), temperatures (0: the most likely), top p, top k (0:
// all), min p, rows of biases or 0, the row of each, tokens, log-probabilities at temperature 1, those at the
// temperature, scratch [threads][3 x vocabulary], its floats for a thread
static void sample_rows(const double *arguments, struct team *team) {
  struct reader in = {arguments};
  struct sample p = {0};
  p.rows = read_integer(&in), p.vocabulary = read_integer(&in);
  p.logits = read_address(&in), p.stride = read_integer(&in);
  p.uniforms = read_address(&in), p.temperatures = read_address(&in);
  p.top_ps = read_address(&in), p.top_ks = read_address(&in), p.min_ps = read_address(&in);
  p.bias_rows = read_address(&in), p.bias_of = read_address(&in);
  p.tokens = read_address(&in), p.logprobs = read_address(&in), p.tempered = read_address(&in);
  p.scratch = read_address(&in), p.scratch_floats = read_integer(&in);
  team_run(team, sample_part, &p, pieces_for(team, 60.0 * (double)(p.rows * p.vocabulary), p.rows));
}
