// The kernels as WebAssembly. Memory, threads and the queue of programs are TypeScript's
// (src/engine/native/wasm/): every thread has an instance on the same memory, and one runs at a time.
#include "../platform/program.h"

extern const struct instruction_set instruction_set_simd128;
static const struct instruction_set *const set = &instruction_set_simd128;
static const _Atomic bool never = false;

#define EXPORT(name) __attribute__((export_name(#name))) name

extern char __heap_base;
void *EXPORT(heap_start)(void) { return &__heap_base; }
int EXPORT(operation_count)(void) { return set->count; }
const char *EXPORT(operation_name)(int index) { return set->operations[index].name; }
int EXPORT(operation_arity)(int index) { return set->operations[index].arity; }
// Whether the program is complete; otherwise nothing was run.
bool EXPORT(run)(const double *commands, long count) {
  if (!program_is_complete(set, commands, count)) return false;
  program_run(set, commands, count, NULL, &never);
  return true;
}
