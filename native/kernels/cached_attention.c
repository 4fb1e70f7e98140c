// Keys and values in blocks of KEY_BLOCK positions of a sequence, and attention to them. In a block, each layer has its
// keys [key heads][head size][KEY_BLOCK], then its values [key heads][KEY_BLOCK][head size rounded up to 16].
#include "attention.h"
#include "operation.h"

enum { MAX_HEAD_SIZE = 512 };

struct cache {
  long tokens, heads, key_heads, head_size, layer_offset, qkv_stride, out_stride, table_stride, window, scratch_floats;
  const float *qkv;
  const double *blocks; // of each token, or the table of all sequences
  const int32_t *slots; // or positions
  const int32_t *sequences;
  float *out, *scratch;
  float scale;
};

static long value_width(const struct cache *p) { return round_up(p->head_size, 16); }
static float *block_keys(const struct cache *p, double block, long key_head) {
  return (float *)(uintptr_t)block + p->layer_offset + key_head * p->head_size * KEY_BLOCK;
}
static float *block_values(const struct cache *p, double block, long key_head) {
  return (float *)(uintptr_t)block + p->layer_offset + p->key_heads * p->head_size * KEY_BLOCK +
         key_head * KEY_BLOCK * value_width(p);
}

static void write_cache_part(void *context, int piece, int pieces, int thread) {
  (void)thread;
  const struct cache *p = context;
  for (long i = piece_start(p->tokens, piece, pieces); i < piece_start(p->tokens, piece + 1, pieces); i++)
    for (long head = 0; head < p->key_heads; head++) {
      const float *key = p->qkv + i * p->qkv_stride + (p->heads + head) * p->head_size;
      const float *value = key + p->key_heads * p->head_size;
      float *keys = block_keys(p, p->blocks[i], head) + p->slots[i];
      for (long d = 0; d < p->head_size; d++) keys[d * KEY_BLOCK] = key[d];
      memcpy(block_values(p, p->blocks[i], head) + p->slots[i] * value_width(p), value,
             (size_t)p->head_size * sizeof(float));
    }
}

// One token and key head: the query heads that share its keys are the rows of a tile.
static void attend_cached_part(void *context, int piece, int pieces, int thread) {
  const struct cache *p = context;
  float *scores = p->scratch + thread * p->scratch_floats;
  long units = p->tokens * p->key_heads, group = p->heads / p->key_heads;
  for (long unit = piece_start(units, piece, pieces); unit < piece_start(units, piece + 1, pieces); unit++) {
    long token = unit / p->key_heads, key_head = unit % p->key_heads, end = p->slots[token] + 1;
    long first = first_key(end - 1, p->window), first_block = first / KEY_BLOCK;
    long blocks = (end + KEY_BLOCK - 1) / KEY_BLOCK, width = blocks * KEY_BLOCK;
    const double *table = p->blocks + p->sequences[token] * p->table_stride;
    for (long head = key_head * group; head < (key_head + 1) * group; head += TILE_ROWS) {
      long rest = (key_head + 1) * group - head;
      int rows = (int)(rest < TILE_ROWS ? rest : TILE_ROWS);
      const float *queries = p->qkv + token * p->qkv_stride + head * p->head_size;
      float sums[TILE_ROWS * MAX_HEAD_SIZE];
      for (long block = first_block; block < blocks; block++)
        score_block(rows, p->head_size, queries, p->head_size, block_keys(p, table[block], key_head),
                    scores + block * KEY_BLOCK, width);
      for (int row = 0; row < rows; row++) softmax_scores(scores + row * width, first, end, width, p->scale);
      for (long block = first_block; block < blocks; block++) {
        long keys = end - block * KEY_BLOCK < KEY_BLOCK ? end - block * KEY_BLOCK : KEY_BLOCK;
        add_values(rows, keys, scores + block * KEY_BLOCK, width, block_values(p, table[block], key_head),
                   value_width(p), value_width(p), sums, block > first_block);
      }
      for (int row = 0; row < rows; row++)
        memcpy(p->out + token * p->out_stride + (head + row) * p->head_size, sums + row * value_width(p),
               (size_t)p->head_size * sizeof(float));
    }
  }
}

// tokens, heads, key heads, head size, floats from a block to its layer, queries keys and values, their stride,
// address of the block of each token, its place in the block
static void write_cache(const double *arguments, struct team *team) {
  struct reader in = {arguments};
  struct cache p = {0};
  p.tokens = read_integer(&in), p.heads = read_integer(&in), p.key_heads = read_integer(&in);
  p.head_size = read_integer(&in), p.layer_offset = read_integer(&in);
  p.qkv = read_address(&in), p.qkv_stride = read_integer(&in);
  p.blocks = read_address(&in), p.slots = read_address(&in);
  // Two tokens may write to one cache line, never to one number.
  team_run(team, write_cache_part, &p,
           pieces_for(team, 8.0 * (double)(p.tokens * p.key_heads * p.head_size), p.tokens));
}

// tokens, heads, key heads, head size, floats from a block to its layer, queries keys and values, their stride, table of
// blocks' addresses, its stride, position of each token, its sequence, result, its stride, scale, window or 0, scratch
// [threads][TILE_ROWS x positions rounded up to KEY_BLOCK], its floats for a thread, sum of positions
static void attend_cached(const double *arguments, struct team *team) {
  struct reader in = {arguments};
  struct cache p = {0};
  p.tokens = read_integer(&in), p.heads = read_integer(&in), p.key_heads = read_integer(&in);
  p.head_size = read_integer(&in), p.layer_offset = read_integer(&in);
  p.qkv = read_address(&in), p.qkv_stride = read_integer(&in);
  p.blocks = read_address(&in), p.table_stride = read_integer(&in);
  p.slots = read_address(&in), p.sequences = read_address(&in);
  p.out = read_address(&in), p.out_stride = read_integer(&in);
  p.scale = read_number(&in), p.window = read_integer(&in);
  p.scratch = read_address(&in), p.scratch_floats = read_integer(&in);
  double positions = read_double(&in);
  double cost = 4.0 * positions * (double)(p.heads * p.head_size);
  team_run(team, attend_cached_part, &p, pieces_for(team, cost, p.tokens * p.key_heads));
}
