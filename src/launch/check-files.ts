/** Files that the options of a run name, looked for before anything is started. */
import { resolve } from "node:path";
import type { TrainConfig } from "../config/train-config.ts";
import { checkSource } from "./load-dataset.ts";
import { requireModule, splitSpec } from "./load-module.ts";

/**
 * Looks for the agent, the evaluators and the data, without reading them.
 * @throws ConfigError for a file that does not exist, or data of an unknown format.
 */
export function checkFiles(config: TrainConfig, folder: string): void {
  const { agent, evaluator, groupEvaluator, dataset } = config;
  const modules = { agent, evaluator, group_evaluator: groupEvaluator };
  for (const [option, spec] of Object.entries(modules))
    if (spec !== null) requireModule(resolve(folder, splitSpec(spec, folder).path), option);
  const { train, val } = dataset;
  for (const [option, source] of Object.entries({ "dataset.train": train, "dataset.val": val }))
    if (source !== null) checkSource(source, { folder, option });
}
