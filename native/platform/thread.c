#include "thread.h"
#include <stdlib.h>

// Kernels keep tiles on the stack; what a system gives by itself is between 128 KiB and 8 MiB.
enum { STACK_BYTES = 1 << 20 };

struct start {
  void (*body)(void *);
  void *context;
};

#if defined(_WIN32)

void thread_lock_init(thread_lock *lock) { InitializeSRWLock(lock); }
void thread_lock_take(thread_lock *lock) { AcquireSRWLockExclusive(lock); }
void thread_lock_release(thread_lock *lock) { ReleaseSRWLockExclusive(lock); }
void thread_signal_init(thread_signal *signal) { InitializeConditionVariable(signal); }
void thread_signal_wait(thread_signal *signal, thread_lock *lock) {
  SleepConditionVariableSRW(signal, lock, INFINITE, 0);
}
void thread_signal_all(thread_signal *signal) { WakeAllConditionVariable(signal); }
static DWORD WINAPI enter(void *raw) {
  struct start start = *(struct start *)raw;
  free(raw);
  start.body(start.context);
  return 0;
}
bool thread_start(thread_handle *handle, void (*body)(void *), void *context) {
  struct start *start = malloc(sizeof *start);
  if (!start) return false;
  *start = (struct start){body, context};
  *handle = CreateThread(NULL, STACK_BYTES, enter, start, 0, NULL);
  if (!*handle) free(start);
  return *handle != NULL;
}
void thread_join(thread_handle handle) {
  WaitForSingleObject(handle, INFINITE);
  CloseHandle(handle);
}

#else
#include <signal.h>

void thread_lock_init(thread_lock *lock) { pthread_mutex_init(lock, NULL); }
void thread_lock_take(thread_lock *lock) { pthread_mutex_lock(lock); }
void thread_lock_release(thread_lock *lock) { pthread_mutex_unlock(lock); }
void thread_signal_init(thread_signal *signal) { pthread_cond_init(signal, NULL); }
void thread_signal_wait(thread_signal *signal, thread_lock *lock) { pthread_cond_wait(signal, lock); }
void thread_signal_all(thread_signal *signal) { pthread_cond_broadcast(signal); }
static void *enter(void *raw) {
  struct start start = *(struct start *)raw;
  free(raw);
  start.body(start.context);
  return NULL;
}
bool thread_start(thread_handle *handle, void (*body)(void *), void *context) {
  struct start *start = malloc(sizeof *start);
  if (!start) return false;
  *start = (struct start){body, context};
  // Signals of the process belong to Node's thread.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  int failed = pthread_create(handle, &attributes, enter, start);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (failed) free(start);
  return !failed;
}
void thread_join(thread_handle handle) { pthread_join(handle, NULL); }

#endif
