/**
 * Defaults that depend on the model: how much of it is trained, and how fast. The built-in model, and
 * what a backend of someone else's trains, keep the plain defaults of the schema.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type BackendName, capabilityMatrix } from "../core/capabilities.ts";
import { isTree, type Tree } from "./camel-keys.ts";
import { configFields } from "./fields.ts";
import { parseYaml } from "../util/yaml-text.ts";
import type { TrainConfig } from "./train-config.ts";
import { setAt, valueAt } from "./tree.ts";

/** Rank and learning rate of models that are larger than the built-in one. */
const rankOfLarge = 32;
/**
 * The value for most models in tinker-cookbook's `hyperparam_utils.get_lr`, which divides it by 10 for
 * full fine-tuning, as "LoRA Without Regret" (Thinking Machines, 2025) measured. At alpha 32 the best
 * rate depends little on the rank.
 */
const loraRate = 3e-4;
const fullRate = 3e-5;

/** Hidden size up to which a model counts as one like the built-in one, whose hidden size is 128. */
const smallHiddenSize = 128;
const maxRuns = 8;

function readTree(file: string, parse: (text: string) => unknown): Tree | null {
  if (!existsSync(file)) return null;
  try {
    const found = parse(readFileSync(file, "utf8"));
    return isTree(found) ? found : null;
  } catch {
    // What is wrong with it is said where the model is loaded.
    return null;
  }
}

/** Whether it is the built-in model, one of its size in a folder, or what a run made of one. */
function isSmallModel(name: string, depth = 0): boolean {
  if (name.startsWith("builtin:")) return true;
  if (depth === maxRuns || name === "") return false;
  const folder = resolve(name);
  const size = readTree(join(folder, "config.json"), JSON.parse)?.["hidden_size"];
  if (typeof size === "number") return size <= smallHiddenSize;
  // A run, a checkpoint of it (checkpoints/STEP), or the weights of one.
  for (let at = folder, up = 0; up < 4; at = dirname(at), up++) {
    const run = readTree(join(at, "config.resolved.yaml"), parseYaml);
    const base = run === null ? null : valueAt(run, "model.name");
    if (typeof base === "string") return isSmallModel(base, depth + 1);
  }
  return false;
}

const isOurs = (backend: string): backend is BackendName =>
  Object.hasOwn(capabilityMatrix, backend);

/** What an option that is unset becomes. */
function chosen(key: string, plain: unknown, tree: Tree, backend: string): unknown {
  if (!isOurs(backend)) return plain;
  const isSmall = isSmallModel(String(valueAt(tree, "model.name")));
  if (key === "model.lora_rank") {
    return isSmall && capabilityMatrix[backend].fullFineTune ? plain : rankOfLarge;
  }
  if (isSmall) return plain;
  return valueAt(tree, "model.lora_rank") === 0 ? fullRate : loraRate;
}

/**
 * Fills in what is unset, in place; the learning rate after the rank, on which it depends.
 * @returns keys that got another value than the plain default.
 */
export function fillModelDefaults(tree: Tree, backend: string): readonly string[] {
  return configFields().flatMap(({ key, ofModel }) => {
    if (ofModel === undefined || valueAt(tree, key) !== null) return [];
    const value = chosen(key, ofModel.plain, tree, backend);
    setAt(tree, key, value);
    return value === ofModel.plain ? [] : [key];
  });
}

/** A sentence on what {@link fillModelDefaults} chose; none where it chose nothing. */
export function describeModelDefaults(
  { model, training, rollout }: TrainConfig,
  filled: readonly string[],
): readonly string[] {
  if (filled.length === 0) return [];
  const hasRank = filled.includes("model.lora_rank");
  const parts = [
    ...(hasRank ? [`model.lora_rank=${model.loraRank}`] : []),
    ...(filled.includes("training.learning_rate")
      ? [`training.learning_rate=${training.learningRate}`]
      : []),
    `rollout.n=${rollout.n}`,
  ];
  const canChoose =
    hasRank && !isSmallModel(model.name) ? "; model.lora_rank=0 trains all weights" : "";
  return [`defaults for ${model.name}: ${parts.join(" ")}${canChoose}`];
}
