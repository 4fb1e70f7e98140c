// Threads of the system, as far as the team and the queue of programs need them.
#pragma once
#include <stdbool.h>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
typedef SRWLOCK thread_lock;
typedef CONDITION_VARIABLE thread_signal;
typedef HANDLE thread_handle;
#else
#include <pthread.h>
typedef pthread_mutex_t thread_lock;
typedef pthread_cond_t thread_signal;
typedef pthread_t thread_handle;
#endif

void thread_lock_init(thread_lock *lock);
void thread_lock_take(thread_lock *lock);
void thread_lock_release(thread_lock *lock);
void thread_signal_init(thread_signal *signal);
// Releases `lock` while it waits, and has it again afterwards.
void thread_signal_wait(thread_signal *signal, thread_lock *lock);
void thread_signal_all(thread_signal *signal);
bool thread_start(thread_handle *handle, void (*body)(void *), void *context);
void thread_join(thread_handle handle);

static inline void thread_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}
