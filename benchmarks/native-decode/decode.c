/*
 * Prototype: one token of SmolLM2-135M's shape by a native kernel, as fast as memory allows. Random weights,
 * LoRA of rank 16 on all seven matrices, one or eight sequences, weights in 32-bit floats, bf16 or 8-bit
 * integers with a scale for each output. Activations are 32-bit floats everywhere. See docs/benchmarks.md.
 *
 *   cc -O3 -march=native -ffast-math -pthread decode.c -lm -o decode && ./decode [THREADS]
 */
#include <immintrin.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LAYERS = 30, WIDTH = 576, HEADS = 9, KV_HEADS = 3, HEAD = 64, HIDDEN = 1536, VOCAB = 49152 };
enum { RANK = 16, PROMPT = 64, TOKENS = 64, LENGTH = PROMPT + TOKENS, MAX_BATCH = 8, MAX_THREADS = 16 };
enum { Q = HEADS * HEAD, KV = KV_HEADS * HEAD, QKV = Q + 2 * KV };
typedef enum { F32, BF16, INT8 } Format;
static const char *const names[] = {"32-bit floats", "bf16", "int8"};
static const int widths[] = {4, 2, 1};

/* y = x W' + (x A') B'; W is rows x columns, A is RANK x columns, B is rows x RANK. */
typedef struct {
  int rows, columns;
  void *weights;
  float *scales, *a, *b;
} Matrix;
typedef struct {
  Matrix qkv, output, gate_up, down;
  float *keys[MAX_BATCH], *values[MAX_BATCH];
} Layer;

static Format format;
static int batch, threads;
static Layer layers[LAYERS];
static Matrix head;
static float x[MAX_BATCH][WIDTH], normed[MAX_BATCH][WIDTH], qkv[MAX_BATCH][QKV], attended[MAX_BATCH][Q];
static float up[MAX_BATCH][2 * HIDDEN], gated[MAX_BATCH][HIDDEN], logits[MAX_BATCH][VOCAB];

/* Threads meet here after every product; they spin, since a sleep costs more than the product. */
static atomic_int arrived, generation;
static void meet(void) {
  int now = atomic_load(&generation);
  if (atomic_fetch_add(&arrived, 1) == threads - 1) {
    atomic_store(&arrived, 0);
    atomic_fetch_add(&generation, 1);
  } else {
    while (atomic_load(&generation) == now) _mm_pause();
  }
}

static inline __m256 eight(const void *weights, size_t at, Format kind) {
  if (kind == F32) return _mm256_loadu_ps((const float *)weights + at);
  if (kind == BF16) {
    __m128i half = _mm_loadu_si128((const __m128i *)((const uint16_t *)weights + at));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16));
  }
  __m128i bytes = _mm_loadl_epi64((const __m128i *)((const int8_t *)weights + at));
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes));
}

static inline float sum(__m256 v) {
  __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  four = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(four, _mm_shuffle_ps(four, four, 1)));
}

/* Rows from..to of a product, for `n` sequences; a weight is read once for all of them. */
#define PRODUCT(NAME, KIND, N)                                                                       \
  static void NAME(const Matrix *m, const float *in, int in_stride, float *out, int out_stride,      \
                   int from, int to) {                                                               \
    for (int r = from; r < to; r++) {                                                                \
      __m256 even[N], odd[N];                                                                        \
      for (int s = 0; s < N; s++) even[s] = odd[s] = _mm256_setzero_ps();                            \
      size_t row = (size_t)r * m->columns;                                                           \
      for (int c = 0; c < m->columns; c += 16) {                                                     \
        __m256 w0 = eight(m->weights, row + c, KIND), w1 = eight(m->weights, row + c + 8, KIND);     \
        for (int s = 0; s < N; s++) {                                                                \
          even[s] = _mm256_fmadd_ps(w0, _mm256_loadu_ps(in + s * in_stride + c), even[s]);           \
          odd[s] = _mm256_fmadd_ps(w1, _mm256_loadu_ps(in + s * in_stride + c + 8), odd[s]);         \
        }                                                                                            \
      }                                                                                              \
      float scale = KIND == INT8 ? m->scales[r] : 1;                                                 \
      for (int s = 0; s < N; s++) out[s * out_stride + r] = scale * sum(_mm256_add_ps(even[s], odd[s])); \
    }                                                                                                \
  }
PRODUCT(f32_1, F32, 1) PRODUCT(f32_8, F32, 8)
PRODUCT(bf16_1, BF16, 1) PRODUCT(bf16_8, BF16, 8)
PRODUCT(int8_1, INT8, 1) PRODUCT(int8_8, INT8, 8)
typedef void (*Product)(const Matrix *, const float *, int, float *, int, int, int);
static const Product products[3][2] = {{f32_1, f32_8}, {bf16_1, bf16_8}, {int8_1, int8_8}};

static float dot(const float *a, const float *b, int n) {
  __m256 total = _mm256_setzero_ps();
  for (int i = 0; i < n; i += 8) total = _mm256_fmadd_ps(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i), total);
  return sum(total);
}

/* One thread's rows of m, with the adapter. Every thread computes x A' itself: cheaper than meeting again. */
static void multiply(const Matrix *m, const float *in, int in_stride, float *out, int out_stride, int thread) {
  int from = (int)((long)m->rows * thread / threads), to = (int)((long)m->rows * (thread + 1) / threads);
  products[format][batch == 8](m, in, in_stride, out, out_stride, from, to);
  for (int s = 0; m->a && s < batch; s++) {
    float low[RANK];
    for (int i = 0; i < RANK; i++) low[i] = dot(m->a + i * m->columns, in + s * in_stride, m->columns);
    for (int r = from; r < to; r++) out[s * out_stride + r] += dot(m->b + r * RANK, low, RANK);
  }
}

static void normalize(float *out, const float *in) {
  float scale = 1 / sqrtf(dot(in, in, WIDTH) / WIDTH + 1e-5f);
  for (int i = 0; i < WIDTH; i++) out[i] = in[i] * scale;
}

/* Of the position of each token, for all heads and layers. */
static float cosines[LENGTH][HEAD / 2], sines[LENGTH][HEAD / 2];
static void rotate(float *v, int position) {
  for (int i = 0; i < HEAD / 2; i++) {
    float a = v[i], b = v[i + HEAD / 2], c = cosines[position][i], s = sines[position][i];
    v[i] = a * c - b * s;
    v[i + HEAD / 2] = b * c + a * s;
  }
}

/* One group of heads, which share keys and values. */
static void attend(Layer *layer, int s, int group, int position) {
  enum { SHARING = HEADS / KV_HEADS };
  float *queries = qkv[s] + group * SHARING * HEAD, *key = qkv[s] + Q + group * HEAD;
  float *keys = layer->keys[s] + group * LENGTH * HEAD, *values = layer->values[s] + group * LENGTH * HEAD;
  rotate(key, position);
  memcpy(keys + position * HEAD, key, HEAD * sizeof(float));
  memcpy(values + position * HEAD, key + KV, HEAD * sizeof(float));
  for (int h = 0; h < SHARING; h++) {
    float weights[LENGTH], most = -INFINITY, total = 0;
    float *query = queries + h * HEAD, *out = attended[s] + (group * SHARING + h) * HEAD;
    rotate(query, position);
    for (int t = 0; t <= position; t++) {
      weights[t] = dot(query, keys + t * HEAD, HEAD) / 8;
      most = fmaxf(most, weights[t]);
    }
    for (int t = 0; t <= position; t++) total += weights[t] = expf(weights[t] - most);
    memset(out, 0, HEAD * sizeof(float));
    for (int t = 0; t <= position; t++)
      for (int i = 0; i < HEAD; i++) out[i] += weights[t] / total * values[t * HEAD + i];
  }
}

/* A residual product: every thread adds the rows that it computed. */
static void add_product(const Matrix *m, const float *in, int stride, int thread) {
  static float sums[MAX_BATCH][WIDTH];
  multiply(m, in, stride, sums[0], WIDTH, thread);
  int from = WIDTH * thread / threads, to = WIDTH * (thread + 1) / threads;
  for (int s = 0; s < batch; s++)
    for (int r = from; r < to; r++) x[s][r] += sums[s][r];
}

static void token(int position, int thread) {
  for (int l = 0; l < LAYERS; l++) {
    Layer *layer = layers + l;
    for (int s = thread; s < batch; s += threads) normalize(normed[s], x[s]);
    meet();
    multiply(&layer->qkv, normed[0], WIDTH, qkv[0], QKV, thread);
    meet();
    for (int i = thread; i < batch * KV_HEADS; i += threads) attend(layer, i / KV_HEADS, i % KV_HEADS, position);
    meet();
    add_product(&layer->output, attended[0], Q, thread);
    meet();
    for (int s = thread; s < batch; s += threads) normalize(normed[s], x[s]);
    meet();
    multiply(&layer->gate_up, normed[0], WIDTH, up[0], 2 * HIDDEN, thread);
    meet();
    for (int s = 0; s < batch; s++)
      for (int i = HIDDEN * thread / threads; i < HIDDEN * (thread + 1) / threads; i++)
        gated[s][i] = up[s][i] / (1 + expf(-up[s][i])) * up[s][HIDDEN + i];
    meet();
    add_product(&layer->down, gated[0], HIDDEN, thread);
    meet();
  }
  for (int s = thread; s < batch; s += threads) normalize(normed[s], x[s]);
  meet();
  multiply(&head, normed[0], WIDTH, logits[0], VOCAB, thread);
  meet();
}

static uint32_t state = 1;
static float uniform(void) {
  state = state * 1664525u + 1013904223u;
  return (float)(state >> 8) / (1 << 23) - 1;
}
static float *uniforms(size_t n, float scale) {
  float *v = aligned_alloc(64, (n * sizeof(float) + 63) / 64 * 64);
  for (size_t i = 0; i < n; i++) v[i] = scale * uniform();
  return v;
}

static Matrix create(int rows, int columns, int has_adapter) {
  size_t n = (size_t)rows * columns;
  float scale = sqrtf(3.0f / columns), *source = uniforms(n, scale);
  Matrix m = {rows, columns, source, NULL, NULL, NULL};
  if (has_adapter) m.a = uniforms((size_t)RANK * columns, scale), m.b = uniforms((size_t)rows * RANK, 0.05f);
  if (format == F32) return m;
  m.weights = aligned_alloc(64, (n * widths[format] + 63) / 64 * 64);
  if (format == INT8) m.scales = uniforms(rows, 0);
  for (int r = 0; r < rows; r++) {
    float most = 0;
    for (int c = 0; c < columns; c++) most = fmaxf(most, fabsf(source[(size_t)r * columns + c]));
    if (format == INT8) m.scales[r] = most / 127;
    for (size_t i = (size_t)r * columns; i < (size_t)(r + 1) * columns; i++) {
      if (format == INT8) ((int8_t *)m.weights)[i] = (int8_t)lrintf(source[i] / m.scales[r]);
      else ((uint16_t *)m.weights)[i] = (uint16_t)((*(uint32_t *)(source + i) + 0x8000u) >> 16);
    }
  }
  free(source);
  return m;
}
static void destroy(Matrix *m) { free(m->weights), free(m->scales), free(m->a), free(m->b); }

static void prepare(void) {
  state = 1;
  for (int l = 0; l < LAYERS; l++) {
    layers[l].qkv = create(QKV, WIDTH, 1);
    layers[l].output = create(WIDTH, Q, 1);
    layers[l].gate_up = create(2 * HIDDEN, WIDTH, 1);
    layers[l].down = create(WIDTH, HIDDEN, 1);
    for (int s = 0; s < MAX_BATCH; s++) {
      layers[l].keys[s] = uniforms(LENGTH * KV, 1);
      layers[l].values[s] = uniforms(LENGTH * KV, 1);
    }
  }
  head = create(VOCAB, WIDTH, 0);
}
static void release(void) {
  for (int l = 0; l < LAYERS; l++) {
    destroy(&layers[l].qkv), destroy(&layers[l].output), destroy(&layers[l].gate_up), destroy(&layers[l].down);
    for (int s = 0; s < MAX_BATCH; s++) free(layers[l].keys[s]), free(layers[l].values[s]);
  }
  destroy(&head);
}

static double value(const Matrix *m, size_t i) {
  if (format == F32) return ((float *)m->weights)[i];
  if (format == INT8) return ((int8_t *)m->weights)[i] * (double)m->scales[i / m->columns];
  uint32_t bits = (uint32_t)((uint16_t *)m->weights)[i] << 16;
  float half;
  memcpy(&half, &bits, sizeof half);
  return half;
}

/* Largest difference of the head's logits from sums in 64 bits, relative to the largest logit. */
static double error(void) {
  double most = 0, difference = 0;
  for (int s = 0; s < batch; s++)
    for (int r = 0; r < VOCAB; r += 97) {
      double total = 0;
      for (int c = 0; c < WIDTH; c++) total += value(&head, (size_t)r * WIDTH + c) * normed[s][c];
      most = fmax(most, fabs(total));
      difference = fmax(difference, fabs(total - logits[s][r]));
    }
  return difference / most;
}

static void *run(void *thread) {
  for (int t = 0; t < TOKENS; t++) {
    meet();
    if ((long)thread == 0)
      for (int s = 0; s < batch; s++)
        for (int i = 0; i < WIDTH; i++) x[s][i] = uniform();
    meet();
    token(PROMPT + t, (int)(long)thread);
  }
  return NULL;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec + now.tv_nsec / 1e9;
}

static double measure(void) {
  pthread_t others[MAX_THREADS];
  double start = seconds();
  for (long t = 1; t < threads; t++) pthread_create(others + t, NULL, run, (void *)t);
  run((void *)0);
  for (long t = 1; t < threads; t++) pthread_join(others[t], NULL);
  return batch * TOKENS / (seconds() - start);
}

int main(int count, char **arguments) {
  threads = count > 1 ? atoi(arguments[1]) : 2;
  if (threads < 1 || threads > MAX_THREADS) return fprintf(stderr, "1 to %d threads\n", MAX_THREADS), 2;
  for (int p = 0; p < LENGTH; p++)
    for (int i = 0; i < HEAD / 2; i++) {
      float angle = p * powf(100000, -2.0f * i / HEAD);
      cosines[p][i] = cosf(angle), sines[p][i] = sinf(angle);
    }
  for (format = F32; format <= INT8; format++) {
    prepare();
    for (batch = 1; batch <= MAX_BATCH; batch += MAX_BATCH - 1) {
      measure();
      double speeds[5];
      for (int i = 0; i < 5; i++) speeds[i] = measure();
      for (int i = 1; i < 5; i++)
        for (int j = i; j > 0 && speeds[j] < speeds[j - 1]; j--) {
          double other = speeds[j];
          speeds[j] = speeds[j - 1], speeds[j - 1] = other;
        }
      printf("%-14s batch of %d: %6.1f tokens/s (%.1f to %.1f), error %.1e\n", names[format], batch, speeds[2],
             speeds[0], speeds[4], error());
      fflush(stdout);
    }
    release();
  }
  return 0;
}
