// What every operation has: its arguments as numbers, and the team that it runs on. TypeScript checks shapes and
// bounds before (src/engine/tensor/); kernels allocate nothing.
#pragma once
#include "../platform/team.h"
#include <stddef.h>
#include <stdint.h>

typedef void (*operation_run)(const double *arguments, struct team *team);

struct operation {
  const char *name;
  // How many arguments it has.
  int arity;
  operation_run run;
};

struct instruction_set {
  const char *name;
  const struct operation *operations;
  int count;
};

// Reads the arguments of an operation in order: addresses, integers and numbers.
struct reader {
  const double *next;
};
static inline void *read_address(struct reader *reader) { return (void *)(uintptr_t)*reader->next++; }
static inline long read_integer(struct reader *reader) { return (long)*reader->next++; }
static inline float read_number(struct reader *reader) { return (float)*reader->next++; }
static inline double read_double(struct reader *reader) { return *reader->next++; }

// How many pieces to cut work into, so that a piece is worth claiming: `cost` of all in floating point operations.
static inline int pieces_for(const struct team *team, double cost, long units) {
  enum { PIECES_PER_THREAD = 6 };
  const double least = 20000;
  double pieces = (double)team_threads(team) * PIECES_PER_THREAD;
  if (cost < pieces * least) pieces = cost / least;
  if (pieces > (double)units) pieces = (double)units;
  return pieces < 1 ? 1 : (int)pieces;
}
// Of `units`, the first of `piece`; the first of `piece + 1` is its end.
static inline long piece_start(long units, int piece, int pieces) { return units * piece / pieces; }
