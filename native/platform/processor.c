#include "processor.h"

#if defined(__x86_64__)
#include <cpuid.h>
extern const struct instruction_set instruction_set_avx512_bf16, instruction_set_avx512, instruction_set_avx2,
    instruction_set_sse2;

struct registers {
  unsigned a, b, c, d;
};
static struct registers cpuid(unsigned leaf, unsigned subleaf) {
  struct registers r = {0};
  __get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d);
  return r;
}
static unsigned long long saved_state(void) {
  unsigned low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (unsigned long long)high << 32 | low;
}
static int bit(unsigned value, int index) { return value >> index & 1; }

int processor_sets(const struct instruction_set *sets[MAX_SETS]) {
  int count = 0;
  struct registers basic = cpuid(1, 0), extended = cpuid(7, 0), more = cpuid(7, 1);
  // The system saves the registers of AVX (bits 1, 2) and of AVX-512 (5 to 7).
  unsigned long long state = bit(basic.c, 27) ? saved_state() : 0;
  int avx2 = (state & 0x6) == 0x6 && bit(extended.b, 5) && bit(basic.c, 12);
  int avx512 = avx2 && (state & 0xe6) == 0xe6 && bit(extended.b, 16) && bit(extended.b, 17) &&
               bit(extended.b, 30) && bit(extended.b, 31);
  if (avx512 && bit(more.a, 5)) sets[count++] = &instruction_set_avx512_bf16;
  if (avx512) sets[count++] = &instruction_set_avx512;
  if (avx2) sets[count++] = &instruction_set_avx2;
  sets[count++] = &instruction_set_sse2;
  return count;
}

#elif defined(__aarch64__)
extern const struct instruction_set instruction_set_neon;
int processor_sets(const struct instruction_set *sets[MAX_SETS]) {
  sets[0] = &instruction_set_neon;
  return 1;
}

#else
extern const struct instruction_set instruction_set_simd128;
int processor_sets(const struct instruction_set *sets[MAX_SETS]) {
  sets[0] = &instruction_set_simd128;
  return 1;
}
#endif
