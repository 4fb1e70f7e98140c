// Which instruction sets this binary has that this processor can run, the fastest first.
#pragma once
#include "../kernels/operation.h"

enum { MAX_SETS = 8 };
int processor_sets(const struct instruction_set *sets[MAX_SETS]);
