#include "processor.h"

#if defined(__x86_64__)
#include <cpuid.h>
extern const struct instruction_set instruction_set_avx512_bf16, instruction_set_avx512, instruction_set_avx2,
    instruction_set_sse2;

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
extern const struct instruction_set instruction_set_amx_bf16;
#endif

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

#if defined(__linux__)
static int may_use_tiles(struct registers extended, unsigned long long state) {
#if defined(TILES_IN_C)
  (void)extended, (void)state;
  return 1;
#else
  enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
  int has_tiles = (state & 0x60000) == 0x60000 && bit(extended.d, 22) && bit(extended.d, 24);
  // The system saves their registers for a process that asks for it, and for no other.
  return has_tiles && syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
#endif
}
#endif

int processor_sets(const struct instruction_set *sets[MAX_SETS]) {
  int count = 0;
  struct registers basic = cpuid(1, 0), extended = cpuid(7, 0), more = cpuid(7, 1);
  // The system saves the registers of AVX (bits 1, 2) and of AVX-512 (5 to 7).
  unsigned long long state = bit(basic.c, 27) ? saved_state() : 0;
  int avx2 = (state & 0x6) == 0x6 && bit(extended.b, 5) && bit(basic.c, 12);
  int avx512 = avx2 && (state & 0xe6) == 0xe6 && bit(extended.b, 16) && bit(extended.b, 17) &&
               bit(extended.b, 30) && bit(extended.b, 31);
#if defined(__linux__)
  if (avx512 && bit(more.a, 5) && may_use_tiles(extended, state)) sets[count++] = &instruction_set_amx_bf16;
#endif
  if (avx512 && bit(more.a, 5)) sets[count++] = &instruction_set_avx512_bf16;
  if (avx512) sets[count++] = &instruction_set_avx512;
  if (avx2) sets[count++] = &instruction_set_avx2;
  sets[count++] = &instruction_set_sse2;
  return count;
}

#elif defined(__aarch64__)
#if defined(__linux__)
#include <sys/auxv.h>
static int has_bf16(void) {
  const unsigned long hwcap2_bf16 = 1UL << 14;
  return (getauxval(AT_HWCAP2) & hwcap2_bf16) != 0;
}
#elif defined(__APPLE__)
#include <sys/sysctl.h>
static int has_bf16(void) {
  int value = 0;
  size_t size = sizeof value;
  return sysctlbyname("hw.optional.arm.FEAT_BF16", &value, &size, NULL, 0) == 0 && value;
}
#else
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
static int has_bf16(void) {
  const DWORD bf16_instructions = 68; // PF_ARM_V86_BF16_INSTRUCTIONS_AVAILABLE
  return IsProcessorFeaturePresent(bf16_instructions);
}
#endif
extern const struct instruction_set instruction_set_neon_bf16, instruction_set_neon;

int processor_sets(const struct instruction_set *sets[MAX_SETS]) {
  int count = 0;
  if (has_bf16()) sets[count++] = &instruction_set_neon_bf16;
  sets[count++] = &instruction_set_neon;
  return count;
}
#endif
