/** Test help: a model from a folder or file, in 32-bit floats and on one thread. */
import type { LoraSpec } from "../../src/core/backend.ts";
import { loadPolicy, type Policy, type PolicyOptions } from "../../src/engine/decoder/policy.ts";
import { Device } from "../../src/engine/tensor/device.ts";

export function openPolicy(
  path: string,
  lora: LoraSpec | null = null,
  options: Partial<PolicyOptions> = {},
): Promise<Policy> {
  return loadPolicy(path, { device: new Device({ threads: 1 }), lora, seed: 1, ...options });
}
