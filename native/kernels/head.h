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

// log of the sum of exponentials; NaN where a logit is.
static float log_sum_of(const float *row, long size) {
  float most = largest_of(row, size);
  vector sum = broadcast(0);
  long k = 0;
  for (; k + LANES <= size; k += LANES) sum += exponential(load(row + k) - most);
  if (k < size) sum += exponential(load_some(row + k, (int)(size - k), -FLT_MAX) - most);
  return most + logf(sum_lanes(sum));
}

// -sum of p log p, of shaped logits.
static float entropy_of(const float *row, float log_sum, long size) {
  vector sum = broadcast(0);
  for (long k = 0; k < size; k += LANES) {
    int count = (int)(size - k < LANES ? size - k : LANES);
    vector logprob = load_some(row + k, count, -FLT_MAX) - log_sum;
    sum -= exponential(logprob) * larger(logprob, broadcast(-1e30f));
  }
  return sum_lanes(sum);
}
