/**
 * The state of a policy and its further adapters in one folder: the policy's own adapter in the folder itself,
 * each other one in a folder in it, as PEFT does.
 */
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { defaultAdapter } from "../../core/adapter-names.ts";
import { CheckpointError } from "../../core/errors.ts";
import type { Policy } from "../decoder/policy.ts";
import type { PolicyTrainer } from "../training/trainer.ts";
import { readCritic, saveCritic } from "./critic-state.ts";
import { readPolicyState, savePolicyState, type ModelOrigin } from "./policy-state.ts";

/** By adapter. */
type Parts = ReadonlyMap<string, { readonly policy: Policy; readonly trainer: PolicyTrainer }>;

export async function saveParts(
  parts: Parts,
  origin: ModelOrigin | null,
  folder: string,
): Promise<void> {
  for (const [name, { policy, trainer }] of parts) {
    const own = folderOf(folder, name);
    await mkdir(own, { recursive: true });
    await savePolicyState(policy, trainer, origin, own);
    if (trainer.madeCritic !== null) await saveCritic(trainer.madeCritic, own);
  }
}

/** @returns what puts all of it in place. @throws CheckpointError; nothing has changed then */
export async function readParts(parts: Parts, folder: string): Promise<() => void> {
  const found: (() => void)[] = [];
  for (const [name, { policy, trainer }] of parts) {
    const own = folderOf(folder, name);
    if (!existsSync(own)) throw lacksAdapter(folder, name);
    const critic = await readCritic(own, policy.device, policy.config.hiddenSize);
    const take = await readPolicyState(policy, trainer, own);
    found.push(take, () => trainer.restoreCritic(critic));
  }
  return () => {
    for (const take of found) take();
  };
}

function folderOf(folder: string, adapter: string): string {
  return adapter === defaultAdapter ? folder : join(folder, adapter);
}

function lacksAdapter(folder: string, name: string): CheckpointError {
  return new CheckpointError({
    message: `The checkpoint ${folder} has no adapter "${name}".`,
    hint: "Resume with the model.adapter_by_role that the checkpoint was made with.",
    fields: { folder, name },
  });
}
