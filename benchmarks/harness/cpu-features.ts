/** Which instructions for matrix products this CPU has: what decides the number format of a fair peer. */
import { readFileSync } from "node:fs";

/** As Linux names them, narrow ones first. */
const known = [
  "avx2",
  "avx512f",
  "avx_vnni",
  "avx512_vnni",
  "avx512_bf16",
  "amx_int8",
  "amx_bf16",
  // ARM
  "asimddp",
  "i8mm",
  "bf16",
] as const;

export type CpuFeature = (typeof known)[number];

/** Of a file like `/proc/cpuinfo`. */
export function featuresOf(cpuinfo: string): readonly CpuFeature[] {
  const line = /^(?:flags|Features)\s*:(.*)$/m.exec(cpuinfo)?.[1] ?? "";
  const flags = new Set(line.trim().split(/\s+/));
  return known.filter((name) => flags.has(name));
}

/** Empty where the system does not say. */
export function cpuFeatures(): readonly CpuFeature[] {
  try {
    return featuresOf(readFileSync("/proc/cpuinfo", "utf8"));
  } catch {
    return [];
  }
}

/** Without such instructions bf16 is converted to and fro, and is slower than f32 (6 times in PyTorch on AVX2). */
export function hasBf16(features: readonly CpuFeature[] = cpuFeatures()): boolean {
  return features.some((name) => name === "avx512_bf16" || name === "amx_bf16" || name === "bf16");
}
