// Functions on one row of logits, in one order wherever they are called from.
#pragma once
#include "vector.h"

// (logit + bias) times `inverse`, the inverse temperature.
static void shape_logits(float *row, const float *bias, float inverse, long size) {
  if (!bias && inverse == 1) return;
  for (long k = 0; k < size; k++) row[k] = (row[k] + (bias ? bias[k] : 0)) * inverse;
}

static float largest_of(const float *row, long size) {
  vector most = broadcast(-FLT_MAX);
  long k = 0;
  for (; k + LANES <= size; k += LANES) most = larger(most, load(row + k));
  if (k < size) most = larger(most, load_some(row + k, (int)(size - k), -FLT_MAX));
  return largest_lane(most);
}

struct sums {
  // Log of the sum of exponentials; NaN where a logit is, or where all are -infinity.
  float log;
  float entropy;
};

// One vector of a row, less its largest logit. An infinite one has no share, and so no entropy.
INLINE vector add_exponentials(vector less, vector *sum, vector *products, const int with_entropy) {
  vector mass = exponential(less);
  *sum += mass;
  if (with_entropy) *products += mass * larger(broadcast(-1e30f), less);
  return mass;
}

// Of shaped logits; the masses, e to the logits less the largest, are kept in `masses` unless it is NULL.
INLINE struct sums sum_exponentials(const float *row, long size, float *masses, const int with_entropy) {
  vector sum = broadcast(0), products = broadcast(0);
  float most = largest_of(row, size);
  long k = 0;
  for (; k + LANES <= size; k += LANES) {
    vector mass = add_exponentials(load(row + k) - most, &sum, &products, with_entropy);
    if (masses) store(masses + k, mass);
  }
  if (k < size) {
    int rest = (int)(size - k);
    vector mass = add_exponentials(load_some(row + k, rest, -INFINITY) - most, &sum, &products, with_entropy);
    if (masses) store_some(masses + k, mass, rest);
  }
  float total = sum_lanes(sum), log_total = logf(total);
  return (struct sums){most + log_total, log_total - sum_lanes(products) / total};
}
static struct sums log_sum_and_entropy(const float *row, long size) { return sum_exponentials(row, size, NULL, 1); }
static float log_sum_of(const float *row, long size, float *masses) {
  return sum_exponentials(row, size, masses, 0).log;
}
