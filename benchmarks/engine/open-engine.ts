/** An engine as the local backend makes it. */
import { PolicyEngine } from "../../src/engine/policy-engine.ts";
import { choosePrecision } from "../../src/engine/decoder/choose-precision.ts";
import { loadPolicy } from "../../src/engine/decoder/policy.ts";
import { Device } from "../../src/engine/tensor/device.ts";
import { defaultThreads, type ModelCase } from "./models.ts";

/** @param adapters further ones, each with other factors */
export async function openEngine(
  model: ModelCase,
  adapters: readonly string[] = [],
): Promise<PolicyEngine> {
  const { folder, loraRank, precision = "auto", quantization = "none" } = model;
  const lora = loraRank === null ? null : { rank: loraRank, alpha: 2 * loraRank };
  const device = new Device({ threads: defaultThreads() });
  const options = { lora, seed: 1, quantization, precision: choosePrecision(precision, device) };
  const seeded = adapters.map((name, i) => ({ name, seed: 2 + i }));
  return PolicyEngine.create(await loadPolicy(folder, { device, ...options }), {
    adapters: seeded,
  });
}
