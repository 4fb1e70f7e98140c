// A team of threads that works off one operation at a time. Work is cut into pieces, and pieces are claimed
// one by one: a thread that the system has taken off its core holds up one piece, not the team.
#pragma once

#define TEAM_MAX 64

struct team;

// One piece of an operation. `thread` is below the number of threads: an index into scratch memory of its own.
typedef void (*team_part)(void *context, int piece, int pieces, int thread);

struct team *team_create(void);
// Ends the threads; the caller is not inside `team_run`.
void team_destroy(struct team *team);
// How many threads, the caller included, take part from the next operation on: 1 to TEAM_MAX.
void team_resize(struct team *team, int threads);
int team_threads(const struct team *team);
// Runs every piece once, the caller's thread helping, and returns when all have ended. How work is cut, and who
// claims what, must not change any result.
void team_run(struct team *team, team_part part, void *context, int pieces);
// Threads sleep until the next `team_run`, in place of waiting awake for a moment.
void team_rest(struct team *team);
// From now on no piece begins: for the end of a process, when nobody looks at results any more.
void team_cancel(struct team *team);
