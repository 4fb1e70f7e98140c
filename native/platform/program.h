// Programs: commands one after the other, each the place of an operation in its instruction set and the arguments.
#pragma once
#include "../kernels/operation.h"
#include <stdatomic.h>
#include <stdbool.h>

// Every operation is known and has all of its arguments.
bool program_is_complete(const struct instruction_set *set, const double *commands, long count);
// Ends before the next operation where `ending` is set meanwhile.
void program_run(const struct instruction_set *set, const double *commands, long count, struct team *team,
                 const _Atomic bool *ending);
