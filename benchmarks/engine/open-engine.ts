/** An engine as the local backend makes it. */
import { PolicyEngine } from "../../src/engine/policy-engine.ts";
import { loadPolicyModel } from "../../src/engine/model/policy-model.ts";
import { defaultThreads, type ModelCase } from "./models.ts";

/** Frozen weights of a LoRA model are mapped from its file. */
export async function openEngine(model: ModelCase): Promise<PolicyEngine> {
  const { folder, loraRank, precision = "float32", quantization = "none" } = model;
  const lora = loraRank === null ? null : { rank: loraRank, alpha: 2 * loraRank };
  const policy = await loadPolicyModel(folder, { lora, seed: 1, quantization });
  return PolicyEngine.create(policy, { threads: defaultThreads(), samplingPrecision: precision });
}
