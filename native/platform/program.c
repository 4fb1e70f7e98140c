#include "program.h"

bool program_is_complete(const struct instruction_set *set, const double *commands, long count) {
  long at = 0;
  while (at < count) {
    double id = commands[at];
    if (!(id >= 0 && id < set->count)) return false;
    at += 1 + set->operations[(int)id].arity;
  }
  return at == count;
}

void program_run(const struct instruction_set *set, const double *commands, long count, struct team *team,
                 const _Atomic bool *ending) {
  for (long at = 0; at < count && !atomic_load(ending);) {
    const struct operation *operation = &set->operations[(int)commands[at]];
    operation->run(commands + at + 1, team);
    at += 1 + operation->arity;
  }
}
