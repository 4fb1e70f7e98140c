// Attention of training (arXiv:1706.03762, query heads in groups that share keys: arXiv:2305.13245) over segments of a
// batch: a suffix attends to its prefix and to itself, and several suffixes share a prefix, which stands directly
// before them. No matrix of length x length: a block of queries is gone through at a time.
#include "attention.h"
#include "operation.h"

enum { QUERY_BLOCK = 48 };

struct segment {
  int32_t start, length, prefix;
};

struct attention {
  long segment_count, heads, key_heads, head_size, qkv_stride, out_stride, d_stride, window, longest, scratch_floats;
  const struct segment *segments;
  const float *qkv, *d_out;
  float *out, *d_qkv, *scratch;
  float scale;
};

// Scratch of a thread, for `longest` positions; the last five are for the backward pass.
struct room {
  float *keys;   // blocks [longest][head size], transposed
  float *values; // [longest][width]
  float *shares; // [QUERY_BLOCK][longest]
  float *value_blocks, *key_rows, *d_shares, *d_keys, *d_values;
};

static long value_width_of(const struct attention *p) { return round_up(p->head_size, 16); }

static struct room room_of(const struct attention *p, int thread) {
  float *at = p->scratch + thread * p->scratch_floats;
  long rows = p->longest, width = value_width_of(p);
  struct room room;
  room.keys = at, at += rows * width;
  room.values = at, at += rows * width;
  room.shares = at, at += QUERY_BLOCK * rows;
  room.value_blocks = at, at += rows * width;
  room.key_rows = at, at += rows * width;
  room.d_shares = at, at += QUERY_BLOCK * rows;
  room.d_keys = at, at += rows * width;
  room.d_values = at;
  return room;
}

static const float *token_row(const struct attention *p, long token, long head) {
  return p->qkv + token * p->qkv_stride + head * p->head_size;
}

// Rows of a head from `token` on, to `position` on of a scratch: as rows of `width`, or transposed in blocks.
static void gather_head(const struct attention *p, long token, long length, long head, long position, float *rows,
                        float *blocks) {
  long width = value_width_of(p);
  for (long i = 0; i < length; i++) {
    const float *from = token_row(p, token + i, head);
    long at = position + i;
    if (rows) {
      memcpy(rows + at * width, from, (size_t)p->head_size * sizeof(float));
      for (long d = p->head_size; d < width; d++) rows[at * width + d] = 0;
    }
    if (!blocks) continue;
    float *block = blocks + at / KEY_BLOCK * KEY_BLOCK * p->head_size + at % KEY_BLOCK;
    for (long d = 0; d < p->head_size; d++) block[d * KEY_BLOCK] = from[d];
  }
}

// Shares of `rows` queries at `position` and after it.
static void find_shares(const struct attention *p, const struct room *room, long token, long head, long position,
                        int rows, float *shares) {
  long end = position + rows, first = first_key(position, p->window);
  for (long block = first / KEY_BLOCK; block * KEY_BLOCK < end; block++)
    score_block(rows, p->head_size, token_row(p, token, head), p->qkv_stride,
                room->keys + block * KEY_BLOCK * p->head_size, shares + block * KEY_BLOCK, p->longest);
  long width = round_up(end, KEY_BLOCK);
  for (int row = 0; row < rows; row++) {
    long at = position + row;
    softmax_scores(shares + row * p->longest, first_key(at, p->window), at + 1, width, p->scale);
  }
}

static const struct segment *prefix_of(const struct attention *p, const struct segment *segment) {
  return segment->prefix < 0 ? NULL : &p->segments[segment->prefix];
}

// One segment, a query head and a part of its queries.
static void attend_segment(const struct attention *p, const struct room *room, const struct segment *segment,
                           long key_head, long first, long end) {
  const struct segment *prefix = prefix_of(p, segment);
  long before = prefix ? prefix->length : 0, width = value_width_of(p), group = p->heads / p->key_heads;
  long key = p->heads + key_head, value = key + p->key_heads;
  if (prefix) {
    gather_head(p, prefix->start, before, key, 0, NULL, room->keys);
    gather_head(p, prefix->start, before, value, 0, room->values, NULL);
  }
  gather_head(p, segment->start, end, key, before, NULL, room->keys);
  gather_head(p, segment->start, end, value, before, room->values, NULL);
  for (long head = key_head * group; head < (key_head + 1) * group; head++)
    for (long i = first; i < end; i += TILE_ROWS) {
      int rows = (int)(end - i < TILE_ROWS ? end - i : TILE_ROWS);
      float sums[TILE_ROWS * 512];
      long token = segment->start + i, position = before + i, from = first_key(position, p->window);
      find_shares(p, room, token, head, position, rows, room->shares);
      add_values(rows, position + rows - from, room->shares + from, p->longest, room->values + from * width, width,
                 width, sums, 0);
      for (int row = 0; row < rows; row++)
        memcpy(p->out + (token + row) * p->out_stride + head * p->head_size, sums + row * width,
               (size_t)p->head_size * sizeof(float));
    }
}

static void attend_part(void *context, int piece, int pieces, int thread) {
  const struct attention *p = context;
  struct room room = room_of(p, thread);
  long units = p->segment_count * p->key_heads;
  for (long unit = piece_start(units, piece, pieces); unit < piece_start(units, piece + 1, pieces); unit++) {
    const struct segment *segment = &p->segments[unit / p->key_heads];
    attend_segment(p, &room, segment, unit % p->key_heads, 0, segment->length);
  }
}

// Gradients of one block of queries of a segment.
static void backward_block(const struct attention *p, const struct room *room, const struct segment *segment, long head,
                           long before, long i, int count) {
  long width = value_width_of(p), token = segment->start + i, position = before + i, end = position + count;
  long from = first_key(position, p->window), keys = end - from, row_floats = p->longest;
  float d_out[QUERY_BLOCK * 512], queries[QUERY_BLOCK * 512];
  for (int row = 0; row < count; row++) {
    const float *d = p->d_out + (token + row) * p->d_stride + head * p->head_size;
    memcpy(d_out + row * width, d, (size_t)p->head_size * sizeof(float));
    memcpy(queries + row * width, token_row(p, token + row, head), (size_t)p->head_size * sizeof(float));
    for (long k = p->head_size; k < width; k++) d_out[row * width + k] = queries[row * width + k] = 0;
  }
  for (int row = 0; row < count; row += TILE_ROWS) {
    int rows = count - row < TILE_ROWS ? count - row : TILE_ROWS;
    float *shares = room->shares + row * row_floats, *d_shares = room->d_shares + row * row_floats;
    find_shares(p, room, token + row, head, position + row, rows, shares);
    for (long block = from / KEY_BLOCK; block * KEY_BLOCK < position + row + rows; block++)
      score_block(rows, p->head_size, d_out + row * width, width,
                  room->value_blocks + block * KEY_BLOCK * p->head_size, d_shares + block * KEY_BLOCK, row_floats);
    for (int r = 0; r < rows; r++) {
      float *share = shares + r * row_floats, *d = d_shares + r * row_floats;
      long last = position + row + r + 1, start = from / LANES * LANES;
      vector sum = broadcast(0);
      // Shares beyond the last key are 0; what is not a number there must not count.
      for (long j = start; j < last; j += LANES) sum += load(share + j) * load_scores(d, j, start, last, 0);
      float mean = sum_lanes(sum);
      for (long j = start; j < last; j++) d[j] = share[j] * (d[j] - mean) * p->scale;
      for (long j = last; j < end; j++) d[j] = 0, share[j] = 0;
    }
    float sums[TILE_ROWS * 512];
    add_values(rows, position + row + rows - from, d_shares + from, row_floats, room->key_rows + from * width, width,
               width, sums, 0);
    for (int r = 0; r < rows; r++)
      memcpy(p->d_qkv + (token + row + r) * p->qkv_stride + head * p->head_size, sums + r * width,
             (size_t)p->head_size * sizeof(float));
  }
  // Of keys and values: the queries of this block, in order.
  for (long j = from; j < from + keys; j += TILE_ROWS) {
    int rows = (int)(end - j < TILE_ROWS ? end - j : TILE_ROWS);
    for (long column = 0; column < width; column += PANEL) {
      int part = (int)(width - column < PANEL ? width - column : PANEL);
      product_tile(rows, part, count, room->shares + j, 1, row_floats, d_out + column, width,
                   room->d_values + j * width + column, width, 1);
      product_tile(rows, part, count, room->d_shares + j, 1, row_floats, queries + column, width,
                   room->d_keys + j * width + column, width, 1);
    }
  }
}

static void store_gradients(const struct attention *p, const struct room *room, const struct segment *segment,
                            long key_head, long position) {
  long width = value_width_of(p), bytes = p->head_size * (long)sizeof(float);
  for (long i = 0; i < segment->length; i++) {
    float *row = p->d_qkv + (segment->start + i) * p->qkv_stride;
    long at = (position + i) * width;
    memcpy(row + (p->heads + key_head) * p->head_size, room->d_keys + at, (size_t)bytes);
    memcpy(row + (p->heads + p->key_heads + key_head) * p->head_size, room->d_values + at, (size_t)bytes);
  }
}

static void backward_segment(const struct attention *p, const struct room *room, const struct segment *segment,
                             long key_head, long before) {
  long width = value_width_of(p), group = p->heads / p->key_heads, length = segment->length;
  long key = p->heads + key_head, value = key + p->key_heads;
  gather_head(p, segment->start, length, key, before, room->key_rows, room->keys);
  gather_head(p, segment->start, length, value, before, NULL, room->value_blocks);
  memset(room->d_keys + before * width, 0, (size_t)(length * width) * sizeof(float));
  memset(room->d_values + before * width, 0, (size_t)(length * width) * sizeof(float));
  for (long head = key_head * group; head < (key_head + 1) * group; head++)
    for (long i = 0; i < length; i += QUERY_BLOCK)
      backward_block(p, room, segment, head, before, i, (int)(length - i < QUERY_BLOCK ? length - i : QUERY_BLOCK));
}

// A prefix and all of its suffixes are one unit: their sums go on in one order.
static void backward_part(void *context, int piece, int pieces, int thread) {
  const struct attention *p = context;
  struct room room = room_of(p, thread);
  long families = 0;
  for (long s = 0; s < p->segment_count; s++) families += p->segments[s].prefix < 0;
  long units = families * p->key_heads, family = -1;
  long first = piece_start(units, piece, pieces), end = piece_start(units, piece + 1, pieces);
  for (long s = 0; s < p->segment_count; s++) {
    if (p->segments[s].prefix >= 0) continue;
    family++;
    for (long key_head = 0; key_head < p->key_heads; key_head++) {
      long unit = family * p->key_heads + key_head;
      if (unit < first || unit >= end) continue;
      const struct segment *prefix = &p->segments[s];
      backward_segment(p, &room, prefix, key_head, 0);
      for (long t = s + 1; t < p->segment_count && p->segments[t].prefix >= 0; t++) {
        backward_segment(p, &room, &p->segments[t], key_head, prefix->length);
        store_gradients(p, &room, &p->segments[t], key_head, prefix->length);
      }
      store_gradients(p, &room, prefix, key_head, 0);
    }
  }
}

static struct attention read_attention(struct reader *in) {
  struct attention p = {0};
  p.segment_count = read_integer(in), p.segments = read_address(in);
  p.heads = read_integer(in), p.key_heads = read_integer(in), p.head_size = read_integer(in);
  p.qkv = read_address(in), p.qkv_stride = read_integer(in);
  p.scale = read_number(in), p.window = read_integer(in);
  p.longest = read_integer(in), p.scratch = read_address(in), p.scratch_floats = read_integer(in);
  return p;
}

// segments, [segments][start, length, prefix or -1], heads, key heads, head size, queries keys and values, their
// stride, scale, window or 0, positions of the longest row rounded up to KEY_BLOCK, scratch of each thread, its floats;
// result, its stride, pairs of tokens
static void attend(const double *arguments, struct team *team) {
  struct reader in = {arguments};
  struct attention p = read_attention(&in);
  p.out = read_address(&in), p.out_stride = read_integer(&in);
  double pairs = read_double(&in);
  team_run(team, attend_part, &p,
           pieces_for(team, 4.0 * pairs * (double)(p.heads * p.head_size), p.segment_count * p.key_heads));
}

// The same; gradient of the result, its stride, gradients of queries keys and values (as their stride), pairs of tokens
static void attend_backward(const double *arguments, struct team *team) {
  struct reader in = {arguments};
  struct attention p = read_attention(&in);
  p.d_out = read_address(&in), p.d_stride = read_integer(&in), p.d_qkv = read_address(&in);
  double pairs = read_double(&in);
  long families = 0;
  for (long s = 0; s < p.segment_count; s++) families += p.segments[s].prefix < 0;
  team_run(team, backward_part, &p,
           pieces_for(team, 12.0 * pairs * (double)(p.heads * p.head_size), families * p.key_heads));
}
