#include "memory.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

void *memory_take(size_t bytes) { return VirtualAlloc(NULL, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE); }
void memory_release(void *memory, size_t bytes) {
  (void)bytes;
  VirtualFree(memory, 0, MEM_RELEASE);
}

#else
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
// All of it from the allocator whose bounds the sanitizer watches.
static const size_t SMALL = SIZE_MAX;
#else
static const size_t SMALL = 1 << 16;
#endif
#if defined(__linux__)
static const size_t HUGE_PAGE = 1 << 21;
#endif

void *memory_take(size_t bytes) {
  if (bytes < SMALL) {
    void *memory = NULL;
    if (posix_memalign(&memory, 64, bytes)) return NULL;
    return memset(memory, 0, bytes);
  }
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return NULL;
#if defined(__linux__)
  // Weights are read from one end to the other: fewer and larger pages cost less to find.
  if (bytes >= HUGE_PAGE) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return memory;
}
void memory_release(void *memory, size_t bytes) {
  if (bytes < SMALL) free(memory);
  else munmap(memory, bytes);
}

#endif
