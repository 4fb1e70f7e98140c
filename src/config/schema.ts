/**
 * The YAML tree: every key with its default, its bounds and its help text. Keys are those of rLLM
 * without the `rllm.` prefix. Docs, `--help` and error messages are generated from this schema.
 * Sections are in separate files, under `schema/`.
 */
import { z } from "zod";
import { camelKeys, type CamelKeys, type Tree } from "./camel-keys.ts";
import { algorithmOptions } from "./schema/algorithm.ts";
import { asyncTrainingOptions } from "./schema/async-training.ts";
import { compactFilteringOptions } from "./schema/compact-filtering.ts";
import { dataOptions } from "./schema/data.ts";
import { datasetOptions } from "./schema/dataset.ts";
import { guardOptions } from "./schema/guards.ts";
import { localOptions } from "./schema/local.ts";
import { modelOptions } from "./schema/model.ts";
import { rejectionSampleOptions } from "./schema/rejection-sample.ts";
import { replayOptions } from "./schema/replay.ts";
import { rolloutOptions } from "./schema/rollout.ts";
import { stepwiseAdvantageOptions } from "./schema/stepwise-advantage.ts";
import { tinkerOptions } from "./schema/tinker.ts";
import { trainerOptions } from "./schema/trainer.ts";
import { trainingOptions } from "./schema/training.ts";
import { verlOptions } from "./schema/verl.ts";
import { workflowOptions } from "./schema/workflow.ts";
import { words } from "./schema/kinds.ts";
import { free } from "./schema/option-meta.ts";
import type { TrainConfig } from "./train-config.ts";

const schema = z.strictObject({
  model: modelOptions,
  data: dataOptions,
  rollout: rolloutOptions,
  algorithm: algorithmOptions,
  stepwise_advantage: stepwiseAdvantageOptions,
  compact_filtering: compactFilteringOptions,
  training: trainingOptions,
  guards: guardOptions,
  rejection_sample: rejectionSampleOptions,
  replay: replayOptions,
  async_training: asyncTrainingOptions,
  trainer: trainerOptions,
  workflow: workflowOptions,
  backend: words()
    .default("local")
    .describe(
      "Training backend, which holds the weights: local, tinker, verl, or path#export of a function that creates a backend. Command line only.",
    )
    .meta({ resume: "never" }),
  local: localOptions,
  tinker_base_url: words()
    .nullable()
    .default(null)
    .describe("URL of the Tinker server; null is TINKER_BASE_URL, else the hosted service.")
    .meta(free),
  tinker: tinkerOptions,
  verl: verlOptions,
  agent: words()
    .nullable()
    .default(null)
    .describe(
      "Agent as path#export of a module: a flow, a workflow class, or an object with the agent options of AgentTrainer. null only where code provides the agent. Command line only.",
    ),
  evaluator: words()
    .nullable()
    .default(null)
    .describe(
      "Evaluator as path#export of a module; null for agents that report their reward. Command line only.",
    ),
  dataset: datasetOptions,
});

/** The part of a schema library's issue that is used here. */
export interface SchemaIssue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly keys?: readonly string[];
}

/** A tree checked against the schema, defaults filled in. */
export type Checked =
  | { readonly config: TrainConfig; readonly issues: null }
  | { readonly config: null; readonly issues: readonly SchemaIssue[] };

/** Checks a tree in snake_case. */
export function checkTree(tree: Tree): Checked {
  const result = schema.safeParse(tree);
  if (!result.success) return { config: null, issues: result.error.issues };
  const config: CamelKeys<z.output<typeof schema>> = camelKeys(result.data);
  return { config, issues: null };
}

/** The schema as JSON Schema, for docs and editors. */
export function configJsonSchema(): Readonly<Record<string, unknown>> {
  return z.toJSONSchema(schema, { io: "input" });
}
