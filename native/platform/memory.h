// Large pieces of zeroed memory, aligned to 64 bytes at least.
#pragma once
#include <stddef.h>

void *memory_take(size_t bytes);
void memory_release(void *memory, size_t bytes);
