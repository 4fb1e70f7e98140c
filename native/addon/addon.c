// The kernels as a Node-API addon. Programs, lists of operations with their arguments, run one after the other on a
// thread of their own; a process that exits meanwhile waits for the pieces of an operation that have begun.
#include "../platform/memory.h"
#include "../platform/processor.h"
#include "../platform/program.h"
#include "../platform/thread.h"
#include <node_api.h>
#include <stdlib.h>
#include <string.h>

struct program {
  struct program *next;
  napi_deferred deferred;
  const struct instruction_set *set;
  long count;
  int threads;
  double commands[];
};

// What was allocated, for JavaScript's garbage collector.
struct memory {
  struct memory *next;
  struct engine *engine;
  void *data;
  size_t bytes;
};

struct engine {
  napi_threadsafe_function finished;
  struct team *team;
  // Of this processor, the fastest first.
  const struct instruction_set *sets[MAX_SETS];
  int set_count;
  thread_handle runner;
  bool has_runner;
  _Atomic bool ending;
  // Held while a program runs: `runNow` runs on Node's thread.
  thread_lock running;
  thread_lock lock;
  thread_signal queued;
  struct program *first, **last;
  // From here on, for Node's thread only. Programs that are not finished.
  int open;
  // Was given up while one was open. The memory of a Node thread that ends is given up before `end` is called.
  struct memory *given_up;
  // Of Node's thread, and of memory.
  long references;
};

static void forget(struct engine *engine) {
  if (--engine->references == 0) free(engine);
}
static void give_back(struct memory *memory) {
  memory_release(memory->data, memory->bytes);
  forget(memory->engine);
  free(memory);
}
static void give_back_all(struct engine *engine) {
  while (engine->given_up) {
    struct memory *memory = engine->given_up;
    engine->given_up = memory->next;
    give_back(memory);
  }
}

static napi_value fail(napi_env env, const char *message) {
  napi_throw_error(env, NULL, message);
  return NULL;
}

static struct engine *engine_of(napi_env env) {
  void *engine = NULL;
  napi_get_instance_data(env, &engine);
  return engine;
}

static void run_commands(struct engine *engine, const struct instruction_set *set, const double *commands, long count,
                         int threads) {
  thread_lock_take(&engine->running);
  team_resize(engine->team, threads);
  program_run(set, commands, count, engine->team, &engine->ending);
  thread_lock_release(&engine->running);
}

static void runner_body(void *raw) {
  struct engine *engine = raw;
  for (;;) {
    thread_lock_take(&engine->lock);
    while (!engine->first && !atomic_load(&engine->ending)) thread_signal_wait(&engine->queued, &engine->lock);
    struct program *program = engine->first;
    if (program && !(engine->first = program->next)) engine->last = &engine->first;
    bool ending = atomic_load(&engine->ending);
    thread_lock_release(&engine->lock);
    if (ending) {
      free(program);
      return;
    }
    run_commands(engine, program->set, program->commands, program->count, program->threads);
    if (atomic_load(&engine->ending)) free(program);
    else napi_call_threadsafe_function(engine->finished, program, napi_tsfn_nonblocking);
  }
}

static void resolve(napi_env env, napi_value callback, void *context, void *raw) {
  (void)callback, (void)context;
  struct program *program = raw;
  napi_value nothing;
  struct engine *engine = env ? engine_of(env) : NULL;
  if (engine) {
    give_back_all(engine);
    if (--engine->open == 0) napi_unref_threadsafe_function(env, engine->finished);
  }
  if (env && napi_get_undefined(env, &nothing) == napi_ok) napi_resolve_deferred(env, program->deferred, nothing);
  free(program);
}

struct call {
  const struct instruction_set *set;
  double *commands;
  long count;
  int threads;
};
// (instruction set, Float64Array of commands, how many numbers of it, threads)
static bool read_call(napi_env env, napi_callback_info info, struct call *call) {
  size_t count = 4, length;
  napi_value values[4];
  int32_t index, threads;
  int64_t used;
  void *data;
  napi_typedarray_type type;
  const struct engine *engine = engine_of(env);
  if (napi_get_cb_info(env, info, &count, values, NULL, NULL) != napi_ok || count < 4 ||
      napi_get_value_int32(env, values[0], &index) != napi_ok ||
      napi_get_typedarray_info(env, values[1], &type, &length, &data, NULL, NULL) != napi_ok ||
      type != napi_float64_array || napi_get_value_int64(env, values[2], &used) != napi_ok || used < 0 ||
      (size_t)used > length || napi_get_value_int32(env, values[3], &threads) != napi_ok || index < 0 ||
      index >= engine->set_count) {
    fail(env, "A program needs an instruction set, a Float64Array, its length and a number of threads.");
    return false;
  }
  *call = (struct call){engine->sets[index], data, (long)used, threads};
  if (program_is_complete(call->set, call->commands, call->count)) return true;
  fail(env, "A program has an unknown operation, or one without all of its arguments.");
  return false;
}

static napi_value run(napi_env env, napi_callback_info info) {
  struct engine *engine = engine_of(env);
  struct call call;
  if (!read_call(env, info, &call)) return NULL;
  struct program *program = malloc(sizeof *program + (size_t)call.count * sizeof(double));
  if (!program) return fail(env, "Out of memory.");
  napi_value promise;
  *program = (struct program){.set = call.set, .count = call.count, .threads = call.threads};
  memcpy(program->commands, call.commands, (size_t)call.count * sizeof(double));
  if (napi_create_promise(env, &program->deferred, &promise) != napi_ok) {
    free(program);
    return NULL;
  }
  if (engine->open++ == 0) napi_ref_threadsafe_function(env, engine->finished);
  thread_lock_take(&engine->lock);
  if (!engine->has_runner) engine->has_runner = thread_start(&engine->runner, runner_body, engine);
  bool is_started = engine->has_runner;
  if (is_started) {
    *engine->last = program;
    engine->last = &program->next;
    thread_signal_all(&engine->queued);
  }
  thread_lock_release(&engine->lock);
  if (!is_started) {
    // No thread to be had: on this one.
    run_commands(engine, call.set, call.commands, call.count, 1);
    resolve(env, NULL, NULL, program);
  }
  return promise;
}

static napi_value run_now(napi_env env, napi_callback_info info) {
  struct call call;
  if (read_call(env, info, &call)) run_commands(engine_of(env), call.set, call.commands, call.count, call.threads);
  return NULL;
}

static void end(void *raw) {
  struct engine *engine = raw;
  thread_lock_take(&engine->lock);
  atomic_store(&engine->ending, true);
  team_cancel(engine->team);
  thread_signal_all(&engine->queued);
  thread_lock_release(&engine->lock);
  if (engine->has_runner) thread_join(engine->runner);
  team_destroy(engine->team);
  while (engine->first) {
    struct program *program = engine->first;
    engine->first = program->next;
    free(program);
  }
  engine->open = 0;
  give_back_all(engine);
  forget(engine);
}

static void release(napi_env env, void *data, void *raw) {
  (void)env, (void)data;
  struct memory *memory = raw;
  struct engine *engine = memory->engine;
  if (engine->open == 0) {
    give_back(memory);
    return;
  }
  memory->next = engine->given_up;
  engine->given_up = memory;
}

// (bytes) -> { buffer, address }, zeroed; null where there is not as much.
static napi_value allocate(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value argument, result, buffer, address;
  double bytes;
  if (napi_get_cb_info(env, info, &count, &argument, NULL, NULL) != napi_ok || count < 1 ||
      napi_get_value_double(env, argument, &bytes) != napi_ok || !(bytes >= 1) || bytes > 9e15)
    return fail(env, "Memory is allocated by a number of bytes.");
  struct engine *engine = engine_of(env);
  struct memory *memory = malloc(sizeof *memory);
  void *data = memory ? memory_take((size_t)bytes) : NULL;
  napi_get_null(env, &result);
  if (!data) {
    free(memory);
    return result;
  }
  *memory = (struct memory){.engine = engine, .data = data, .bytes = (size_t)bytes};
  engine->references++;
  if (napi_create_external_arraybuffer(env, data, (size_t)bytes, release, memory, &buffer) != napi_ok) {
    give_back(memory);
    return fail(env, "This runtime has no array buffers on memory of an addon.");
  }
  napi_create_object(env, &result);
  napi_create_double(env, (double)(uintptr_t)data, &address);
  napi_set_named_property(env, result, "buffer", buffer);
  napi_set_named_property(env, result, "address", address);
  return result;
}

// (buffer): its memory is given back now; views of it become empty.
static napi_value release_now(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value buffer;
  if (napi_get_cb_info(env, info, &count, &buffer, NULL, NULL) != napi_ok || count < 1 ||
      napi_detach_arraybuffer(env, buffer) != napi_ok)
    return fail(env, "Only memory that was allocated here can be released.");
  return NULL;
}

static napi_value text(napi_env env, const char *value) {
  napi_value result;
  napi_create_string_utf8(env, value, NAPI_AUTO_LENGTH, &result);
  return result;
}

// [{ name, operations: [{ name, arity }] }], the fastest first.
static napi_value describe(napi_env env, const struct instruction_set *const *sets, int count) {
  napi_value list;
  napi_create_array(env, &list);
  for (int i = 0; i < count; i++) {
    napi_value set, operations;
    napi_create_object(env, &set);
    napi_create_array(env, &operations);
    for (int j = 0; j < sets[i]->count; j++) {
      napi_value operation, arity;
      napi_create_object(env, &operation);
      napi_create_int32(env, sets[i]->operations[j].arity, &arity);
      napi_set_named_property(env, operation, "name", text(env, sets[i]->operations[j].name));
      napi_set_named_property(env, operation, "arity", arity);
      napi_set_element(env, operations, (uint32_t)j, operation);
    }
    napi_set_named_property(env, set, "name", text(env, sets[i]->name));
    napi_set_named_property(env, set, "operations", operations);
    napi_set_element(env, list, (uint32_t)i, set);
  }
  return list;
}

static void define(napi_env env, napi_value exports, const char *name, napi_callback callback) {
  napi_value function;
  napi_create_function(env, name, NAPI_AUTO_LENGTH, callback, NULL, &function);
  napi_set_named_property(env, exports, name, function);
}

NAPI_MODULE_INIT() {
  struct engine *engine = calloc(1, sizeof *engine);
  if (!engine || !(engine->team = team_create())) return fail(env, "Out of memory.");
  engine->references = 1;
  engine->last = &engine->first;
  engine->set_count = processor_sets(engine->sets);
  thread_lock_init(&engine->lock);
  thread_lock_init(&engine->running);
  thread_signal_init(&engine->queued);
  napi_create_threadsafe_function(env, NULL, NULL, text(env, "agent-trainer"), 0, 1, NULL, NULL, NULL, resolve,
                                  &engine->finished);
  // A run that is awaited keeps the process; an idle engine does not.
  napi_unref_threadsafe_function(env, engine->finished);
  napi_set_instance_data(env, engine, NULL, NULL);
  napi_add_env_cleanup_hook(env, end, engine);
  define(env, exports, "run", run);
  define(env, exports, "runNow", run_now);
  define(env, exports, "allocate", allocate);
  define(env, exports, "release", release_now);
  napi_set_named_property(env, exports, "instructionSets", describe(env, engine->sets, engine->set_count));
  return exports;
}
