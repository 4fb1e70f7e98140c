/** For backends whose models cannot be quantized under an adapter. */
import type { ModelSpec } from "./backend.ts";
import { backendsThat } from "./capabilities.ts";
import { UnsupportedOptionError } from "./errors.ts";

/** @throws UnsupportedOptionError for a quantization other than none */
export function refuseQuantization({ quantization = "none" }: ModelSpec, backend: string): void {
  if (quantization === "none") return;
  const others = backendsThat(({ quantizations = [] }) => quantizations.includes(quantization));
  throw new UnsupportedOptionError("model.quantization", quantization, backend, others);
}
