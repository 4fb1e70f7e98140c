/** The evaluator that a configuration names, or that its agent brings. */
import { folderOf } from "../config/load.ts";
import type { TrainConfig } from "../config/train-config.ts";
import type { Evaluator } from "../core/agent.ts";
import { ConfigError } from "../core/errors.ts";
import { isGiven } from "../util/defined.ts";
import { loadAgent } from "./load-agent.ts";
import { loadExport } from "./load-module.ts";

const defaults = ["evaluator", "default"];

/**
 * @param given another one, relative to the working directory
 * @throws ConfigError where there is none
 */
export async function loadEvaluator(config: TrainConfig, given?: string): Promise<Evaluator> {
  if (given !== undefined)
    return (await loadExport({
      ...{ spec: given, folder: process.cwd(), option: "--evaluator", defaults },
    })) as Evaluator;
  const folder = folderOf(config);
  const { evaluator: spec } = config;
  if (spec !== null)
    return (await loadExport({ spec, folder, option: "evaluator", defaults })) as Evaluator;
  const own = await loadAgent(config, folder, true);
  if (isGiven(own.evaluator)) return own.evaluator;
  throw new ConfigError({
    message: "evaluator is not set, so there is nothing to probe.",
    hint: "Set evaluator=path#export, or pass --evaluator. An agent that returns its own reward is looked at with --rollouts, or with --from RUN and an evaluator.",
    fields: { option: "evaluator" },
  });
}
