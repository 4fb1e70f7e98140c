// Panels (`panels.h`) of bf16 and of integers as wider numbers: in registers, or a panel as a whole. Nothing is rounded,
// so sums are the same either way.
#pragma once
#include "panels.h"

typedef int8_t bytes __attribute__((vector_size(2 * LANES), aligned(1)));
typedef int16_t shorts __attribute__((vector_size(4 * LANES)));

// Neighbours in depth of LANES columns.
struct two_rows {
  vector even, odd;
};

INLINE long panel_element_bytes(enum panel_format format) {
  return format == PANEL_F32 ? 4 : format == PANEL_BF16 ? 2 : 1;
}

// LANES pairs of bf16 or integers as floats.
INLINE struct two_rows load_two_rows(const enum panel_format format, const void *from) {
  if (format == PANEL_INT8) {
    integers pairs = (integers)__builtin_convertvector(*(const bytes *)from, shorts);
    return (struct two_rows){__builtin_convertvector(pairs << 16 >> 16, vector),
                             __builtin_convertvector(pairs >> 16, vector)};
  }
  integers pairs = *(const integers *)from;
  return (struct two_rows){(vector)(pairs << 16), (vector)(pairs & (int32_t)0xffff0000)};
}

// LANES pairs of bf16 or integers as bf16, which holds integers of 8 bits exactly.
INLINE integers load_pairs(const enum panel_format format, const void *from) {
  if (format == PANEL_BF16) return *(const integers *)from;
  struct two_rows rows = load_two_rows(format, from);
  return (integers)rows.odd | ((integers)rows.even >> 16 & 0xffff);
}

// As f32 [depth][width]; where `scales` are given, each row times its own.
INLINE void widen_rows(const enum panel_format format, const void *panel, long depth, long width, const float *scales,
                       float *to) {
  const char *from = panel;
  for (long k = 0; k < depth; k += 2) {
    int is_pair = k + 1 < depth;
    float even = scales ? scales[k] : 1, odd = scales && is_pair ? scales[k + 1] : 1;
    for (long j = 0; j < width; j += LANES, from += 2 * LANES * panel_element_bytes(format)) {
      struct two_rows rows = load_two_rows(format, from);
      store(to + k * width + j, rows.even * even);
      if (is_pair) store(to + (k + 1) * width + j, rows.odd * odd);
    }
  }
}
static void widen_panel(enum panel_format format, const void *panel, long depth, long width, const float *scales,
                        float *to) {
  if (format == PANEL_INT8) widen_rows(PANEL_INT8, panel, depth, width, scales, to);
  else widen_rows(PANEL_BF16, panel, depth, width, scales, to);
}

// Integers as bf16, in the same order; their number is a multiple of 16.
static void integers_to_bf16(const int8_t *from, long count, bfloat16 *to) {
  for (long i = 0; i < count; i += 2 * LANES) *(integers *)(to + i) = load_pairs(PANEL_INT8, from + i);
}
