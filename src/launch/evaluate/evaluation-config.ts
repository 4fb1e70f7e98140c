/** The configuration of an evaluation: the caller's, else that of the evaluated run, with what an evaluation changes. */
import {
  folderOf,
  namesModel,
  resolveConfig,
  withBackend,
  type ConfigInput,
} from "../../config/load.ts";
import { ConfigError } from "../../core/errors.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import { isGiven } from "../../util/defined.ts";
import { takeFunctions } from "../../trainer/custom-algorithms.ts";
import type { EvaluationRunOptions } from "./evaluation-options.ts";
import type { LocatedModel } from "./locate-model.ts";

type Given = Pick<EvaluationRunOptions<never>, "config" | "backend" | "n" | "concurrency" | "seed">;

export interface EvaluationConfig {
  readonly config: TrainConfig;
  /** What paths in it are relative to. */
  readonly folder: string;
}

/** An evaluated model that has a name need not be named twice. */
function withName(input: ConfigInput | undefined, name: string | null): ConfigInput {
  if (name === null) return input ?? {};
  if (input === undefined) return { model: { name } };
  if (Array.isArray(input)) return [`model.name=${JSON.stringify(name)}`, ...(input as string[])];
  const options = input as Readonly<Record<string, unknown>>;
  const given = options["model"];
  if (typeof given === "object" && given !== null) {
    return "name" in given ? input : { ...options, model: { ...given, name } };
  }
  return "model.name" in options ? input : { ...options, model: { name } };
}

function baseOf(input: ConfigInput | undefined, located: LocatedModel): TrainConfig {
  if (input === undefined && located.kind === "checkpoint") return located.config;
  const plain = input === undefined ? input : takeFunctions(input).config;
  if (located.kind === "config") {
    const config = resolveConfig(plain ?? {});
    if (namesModel(config)) return config;
    throw new ConfigError({
      message: "No model is named: an evaluation needs model, or model.name in its config.",
      hint: "Name a run, a model folder, OWNER/NAME on a hub, or the URL of a server; on the command line with --model.",
      fields: { option: "model.name" },
    });
  }
  const name = located.kind === "checkpoint" ? located.config.model.name : located.name;
  return resolveConfig(withName(plain, name));
}

function modelOf(base: TrainConfig, located: LocatedModel): TrainConfig["model"] {
  if (located.kind === "checkpoint") return located.config.model;
  return located.kind === "config" ? base.model : { ...base.model, name: located.name };
}

/**
 * A failed attempt is a result, so nothing is attempted twice.
 * @throws ConfigError for options that are out of bounds.
 */
export function evaluationConfig(given: Given, located: LocatedModel): EvaluationConfig {
  const { backend, n, concurrency, seed } = given;
  const found = baseOf(given.config, located);
  const base = isGiven(backend) ? withBackend(found, backend) : found;
  const config = {
    ...base,
    model: modelOf(base, located),
    rollout: { ...base.rollout, ...(n === undefined ? {} : { nVal: n }) },
    workflow: {
      ...base.workflow,
      retryLimit: 0,
      ...(concurrency === undefined ? {} : { nParallelTasks: concurrency }),
    },
    trainer: { ...base.trainer, ...(seed === undefined ? {} : { seed }) },
  };
  return { config: resolveConfig(config), folder: folderOf(base) };
}
