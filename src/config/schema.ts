/**
 * The YAML tree: every key with its default, its bounds and its help text. Keys are those of rLLM
 * without the `rllm.` prefix. Docs, `--help` and error messages are generated from this schema.
 * Sections are in separate files, under `schema/`.
 */
import { z } from "zod";
import { camelKeys, type CamelKeys, type Tree } from "./camel-keys.ts";
import { agentCommandOptions } from "./schema/agent-command.ts";
import { algorithmOptions } from "./schema/algorithm.ts";
import { asyncTrainingOptions } from "./schema/async-training.ts";
import { rejectionSampleOptions } from "./schema/selection.ts";
import { budgetOptions } from "./schema/budget.ts";
import { dataOptions, datasetOptions } from "./schema/data.ts";
import { environmentOptions, envOption } from "./schema/environment.ts";
import { distillationOptions } from "./schema/distillation.ts";
import { fineTuningOptions } from "./schema/fine-tuning.ts";
import { gatewayOptions } from "./schema/gateway.ts";
import { guardOptions } from "./schema/guards.ts";
import { healthOptions } from "./schema/health.ts";
import { fireworksOptions } from "./schema/backends/fireworks.ts";
import { localOptions } from "./schema/backends/local.ts";
import { tinkerOptions } from "./schema/backends/tinker.ts";
import { verlOptions } from "./schema/backends/verl.ts";
import { modelOptions, trainingOptions } from "./schema/training.ts";
import { recordOptions } from "./schema/record.ts";
import { rolloutOptions } from "./schema/rollout.ts";
import { stepwiseAdvantageOptions } from "./schema/stepwise-advantage.ts";
import { trackingOptions } from "./schema/tracking.ts";
import { trainerOptions } from "./schema/trainer.ts";
import { workflowOptions } from "./schema/workflow.ts";
import { nonEmptyString } from "./schema/kinds.ts";
import type { TrainConfig } from "./train-config.ts";

const options = z.strictObject({
  model: modelOptions,
  data: dataOptions,
  rollout: rolloutOptions,
  algorithm: algorithmOptions,
  stepwise_advantage: stepwiseAdvantageOptions,
  training: trainingOptions,
  guards: guardOptions,
  health: healthOptions,
  budget: budgetOptions,
  rejection_sample: rejectionSampleOptions,
  async_training: asyncTrainingOptions,
  trainer: trainerOptions,
  tracking: trackingOptions,
  record: recordOptions,
  workflow: workflowOptions,
  gateway: gatewayOptions,
  backend: nonEmptyString()
    .default("local")
    .describe(
      "Training backend, which holds the weights: local, tinker, fireworks, verl, or path#export of a function that creates a backend. Code may pass a backend in its place.",
    )
    .meta({ resume: "never" }),
  local: localOptions,
  tinker: tinkerOptions,
  fireworks: fireworksOptions,
  verl: verlOptions,
  agent: nonEmptyString()
    .nullable()
    .default(null)
    .describe(
      "Agent as path#export of a module: a flow, a workflow class, or an object with the agent options of AgentTrainer. null only where code passes the agent.",
    ),
  agent_command: agentCommandOptions,
  evaluator: nonEmptyString()
    .nullable()
    .default(null)
    .describe(
      "Evaluator as path#export of a module; null for agents that report their reward, and where code passes the agent.",
    ),
  group_evaluator: nonEmptyString()
    .nullable()
    .default(null)
    .describe(
      "What scores the rollouts of a task relative to each other, as path#export of a function of the task and its episodes, such as relativeJudge(...) of agent-trainer/evaluators. Its scores are trained on in place of the evaluator's, which validations still need. Code may pass it as groupEvaluator; null is none.",
    ),
  env: envOption,
  environment: environmentOptions,
  dataset: datasetOptions,
  fine_tuning: fineTuningOptions,
  distillation: distillationOptions,
});

type Options = z.output<typeof options>;

/** A seed that is not set is filled in, so that a run's folder has it whatever another command's seed is. */
function fillSeed(given: Options) {
  const seed = given.data.seed ?? given.trainer.seed;
  return { ...given, data: { ...given.data, seed } };
}

const schema = options.transform(fillSeed);

/** The part of a schema library's issue that is used here. */
export interface SchemaIssue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly keys?: readonly string[];
  /** Of a union: the issues with each of its members. */
  readonly errors?: readonly (readonly SchemaIssue[])[];
}

/** A tree checked against the schema, defaults filled in, as files and as code have it. */
export type Checked =
  | { readonly config: TrainConfig; readonly tree: Tree; readonly issues: null }
  | { readonly config: null; readonly issues: readonly SchemaIssue[] };

/** Of an option with types, the issues with the type that was chosen. */
function issuesOf(issue: SchemaIssue): readonly SchemaIssue[] {
  const { code, path, errors = [] } = issue;
  const isOfType = ({ path: [first] }: SchemaIssue): boolean => first === "type";
  if (code !== "invalid_union" || !errors.some((list) => list.some(isOfType))) return [issue];
  const chosen = errors.find((list) => !list.some(isOfType));
  return (chosen ?? [{ code, path: ["type"] }]).map((one) => ({
    ...one,
    path: [...path, ...one.path],
  }));
}

/** Checks a tree in snake_case. */
export function checkTree(tree: Tree): Checked {
  const result = schema.safeParse(tree);
  if (!result.success) return { config: null, issues: result.error.issues.flatMap(issuesOf) };
  const config: CamelKeys<z.output<typeof schema>> = camelKeys(result.data);
  return { config, tree: result.data, issues: null };
}

/** The schema as JSON Schema, for docs and editors. */
export function configJsonSchema(): Readonly<Record<string, unknown>> {
  return z.toJSONSchema(schema, { io: "input" });
}
