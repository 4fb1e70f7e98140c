#include "team.h"
#include "thread.h"
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

// How long a thread waits awake: some 100 us. Then it sleeps: a thread that yields its core to a busy program
// loses a whole time slice, one that is woken comes next.
enum { SPINS = 2000 };

// What fits into a ticket: 28 bits for the operation, 8 for its threads, 14 for its pieces and for the next of them.
enum { TEAM_PIECES = 0x3fff, OPERATIONS = 1 << 28 };

struct member {
  struct team *team;
  thread_handle handle;
  int index;
};

struct team {
  // One word, so that a thread that comes late cannot mix two operations: see `ticket_of`.
  _Atomic uint64_t ticket;
  _Atomic int done;
  _Atomic(team_part) part;
  _Atomic(void *) context;
  // From the next operation on.
  _Atomic int threads;
  _Atomic int sleeping;
  // The caller sleeps until the last piece is done.
  _Atomic bool waiting;
  _Atomic bool resting;
  _Atomic bool ending;
  _Atomic bool cancelled;
  int started;
  thread_lock lock;
  thread_signal wake;
  thread_signal finished;
  struct member members[TEAM_MAX];
};

// The number of the operation, how many threads take part in it, how many pieces it has, and the piece that is claimed
// next. A thread that comes late may be one too many by now, and has no scratch memory then.
static uint64_t ticket_of(uint32_t operation, int threads, int pieces) {
  return (uint64_t)(operation % OPERATIONS) << 36 | (uint64_t)threads << 28 | (uint64_t)pieces << 14;
}
static uint32_t operation_of(uint64_t ticket) { return (uint32_t)(ticket >> 36); }
static int threads_of(uint64_t ticket) { return (int)(ticket >> 28 & 0xff); }
static int pieces_of(uint64_t ticket) { return (int)(ticket >> 14 & TEAM_PIECES); }
static int next_of(uint64_t ticket) { return (int)(ticket & TEAM_PIECES); }

static bool is_cancelled(struct team *team) {
  return atomic_load_explicit(&team->cancelled, memory_order_relaxed);
}

static void signal_finished(struct team *team) {
  thread_lock_take(&team->lock);
  thread_signal_all(&team->finished);
  thread_lock_release(&team->lock);
}

// Claims pieces until there are none for this thread. Returns the operation that it saw last.
static uint32_t work(struct team *team, int thread) {
  uint64_t ticket = atomic_load_explicit(&team->ticket, memory_order_acquire);
  while (next_of(ticket) < pieces_of(ticket) && thread < threads_of(ticket)) {
    team_part part = atomic_load_explicit(&team->part, memory_order_relaxed);
    void *context = atomic_load_explicit(&team->context, memory_order_relaxed);
    // Fails where the ticket has moved on: what was read above may belong to another operation.
    if (!atomic_compare_exchange_weak_explicit(&team->ticket, &ticket, ticket + 1, memory_order_acq_rel,
                                               memory_order_acquire))
      continue;
    if (!is_cancelled(team)) part(context, next_of(ticket), pieces_of(ticket), thread);
    if (atomic_fetch_add(&team->done, 1) + 1 == pieces_of(ticket) && atomic_load(&team->waiting)) signal_finished(team);
    ticket = atomic_load_explicit(&team->ticket, memory_order_acquire);
  }
  return operation_of(ticket);
}

static bool is_idle(struct team *team, uint32_t seen, int index) {
  uint64_t ticket = atomic_load(&team->ticket);
  return operation_of(ticket) == seen || index >= threads_of(ticket);
}

static void sleep_until_work(struct team *team, uint32_t seen, int index) {
  thread_lock_take(&team->lock);
  atomic_fetch_add(&team->sleeping, 1);
  while (!team->ending && is_idle(team, seen, index)) thread_signal_wait(&team->wake, &team->lock);
  atomic_fetch_sub(&team->sleeping, 1);
  thread_lock_release(&team->lock);
}

static void member_body(void *raw) {
  struct member *self = raw;
  struct team *team = self->team;
  for (;;) {
    uint32_t seen = work(team, self->index);
    for (int waited = 0; waited < SPINS && is_idle(team, seen, self->index) && !atomic_load(&team->resting); waited++)
      thread_pause();
    if (is_idle(team, seen, self->index)) sleep_until_work(team, seen, self->index);
    if (team->ending) return;
  }
}

struct team *team_create(void) {
  struct team *team = calloc(1, sizeof *team);
  if (!team) return NULL;
  atomic_store(&team->threads, 1);
  thread_lock_init(&team->lock);
  thread_signal_init(&team->wake);
  thread_signal_init(&team->finished);
  return team;
}

void team_destroy(struct team *team) {
  thread_lock_take(&team->lock);
  team->ending = true;
  atomic_store(&team->resting, true);
  thread_signal_all(&team->wake);
  thread_lock_release(&team->lock);
  for (int i = 0; i < team->started; i++) thread_join(team->members[i].handle);
  free(team);
}

void team_resize(struct team *team, int threads) {
  threads = threads < 1 ? 1 : threads > TEAM_MAX ? TEAM_MAX : threads;
  while (team->started < threads - 1) {
    struct member *member = &team->members[team->started];
    *member = (struct member){.team = team, .index = team->started + 1};
    if (!thread_start(&member->handle, member_body, member)) break;
    team->started++;
  }
  atomic_store(&team->threads, team->started + 1 < threads ? team->started + 1 : threads);
}

int team_threads(const struct team *team) { return atomic_load(&((struct team *)team)->threads); }

static bool is_done(struct team *team, int pieces) { return atomic_load(&team->done) == pieces; }

static void wait_until_done(struct team *team, int pieces) {
  for (int waited = 0; waited < SPINS && !is_done(team, pieces); waited++) thread_pause();
  if (is_done(team, pieces)) return;
  thread_lock_take(&team->lock);
  atomic_store(&team->waiting, true);
  while (!is_done(team, pieces)) thread_signal_wait(&team->finished, &team->lock);
  atomic_store(&team->waiting, false);
  thread_lock_release(&team->lock);
}

void team_run(struct team *team, team_part part, void *context, int pieces) {
  if (pieces > TEAM_PIECES) pieces = TEAM_PIECES;
  if (pieces <= 1 || team_threads(team) == 1) {
    for (int piece = 0; piece < pieces && !is_cancelled(team); piece++) part(context, piece, pieces, 0);
    return;
  }
  uint32_t next = operation_of(atomic_load(&team->ticket)) + 1;
  // Nobody uses these before the ticket is there: all pieces of the former operation are claimed and done.
  atomic_store_explicit(&team->part, part, memory_order_relaxed);
  atomic_store_explicit(&team->context, context, memory_order_relaxed);
  atomic_store_explicit(&team->done, 0, memory_order_relaxed);
  atomic_store_explicit(&team->resting, false, memory_order_relaxed);
  atomic_store_explicit(&team->ticket, ticket_of(next, team_threads(team), pieces), memory_order_release);
  atomic_thread_fence(memory_order_seq_cst);
  if (atomic_load(&team->sleeping) > 0) {
    thread_lock_take(&team->lock);
    thread_signal_all(&team->wake);
    thread_lock_release(&team->lock);
  }
  work(team, 0);
  wait_until_done(team, pieces);
}

void team_rest(struct team *team) { atomic_store(&team->resting, true); }

void team_cancel(struct team *team) { atomic_store(&team->cancelled, true); }
