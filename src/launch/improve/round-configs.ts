/** The configurations of a round: that of its training, and that of its gate. */
import { join } from "node:path";
import type { ImproveConfig } from "../../config/improve/improve-config.ts";
import { loadConfig } from "../../config/load.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import { ConfigError } from "../../core/errors.ts";
import { type GateRule } from "../../runs/evaluations/gate-rule.ts";
import { roundFolder, roundName } from "../../runs/rounds/round-file.ts";
import type { CuratedName } from "../../production/curate/curated-files.ts";

/** What each way to train reads. */
export const readBy: Readonly<Record<ImproveConfig["train"]["with"], CuratedName>> = {
  kto: "feedback",
  sft: "demonstrations",
  dpo: "preferences",
  rl: "tasks",
};

export const curatedFolder = (folder: string, round: number): string =>
  join(roundFolder(folder, round), "curated");

const set = (key: string, value: unknown): string => `${key}=${JSON.stringify(value)}`;

/** Validation loss needs two held-out rows. */
const leastVal = 2;

/** With the fields that an override gives: `env=?nearest=0.8`. */
function replayOf(curated: string, overrides: readonly string[]): string {
  const fields = overrides.findLast((one) => one.startsWith("env=?"))?.slice("env=".length) ?? "";
  return `replay:${curated}${fields}`;
}

export function trainingConfig(
  { config: file, folder, train }: ImproveConfig,
  { round, model, val }: { readonly round: number; readonly model: string; readonly val: number },
): TrainConfig {
  const curated = curatedFolder(folder, round);
  const name = readBy[train.with];
  const rows = join(curated, `${name}.jsonl`);
  const data =
    train.with === "rl"
      ? [
          set("env", replayOf(curated, train.overrides)),
          // What the file names is not what production asked.
          "dataset.train=null",
          "dataset.val=null",
          set("environment.val_split", val === 0 ? null : "val"),
        ]
      : [
          set("fine_tuning.train", rows),
          ...(val < leastVal
            ? []
            : [set("fine_tuning.val", join(curated, "val", `${name}.jsonl`))]),
        ];
  return loadConfig({
    file,
    overrides: [
      // The agent of replayed tools, unless the overrides name one that asks them.
      ...(train.with === "rl" ? ["agent=null"] : [`fine_tuning.loss=${train.with}`]),
      ...train.overrides.filter((one) => !one.startsWith("env=?")),
      ...data,
      set("model.name", model),
      set("trainer.output_dir", folder),
      set("trainer.experiment_name", roundName(round)),
    ],
  }).config;
}

/** @throws ConfigError where there are no held-out tasks. */
export function gateConfig({ config: file, gate }: ImproveConfig): TrainConfig {
  const overrides = gate.heldOut === null ? [] : [set("dataset.val", gate.heldOut)];
  const { config } = loadConfig({ file, overrides });
  if (config.dataset.val !== null || config.env !== null) return config;
  throw new ConfigError({
    message: "The gate has no held-out tasks.",
    hint: `Set gate.held_out, or dataset.val in ${file}.`,
    fields: { option: "gate.held_out" },
  });
}

export function gateRule({ gate }: ImproveConfig, { budget }: TrainConfig): GateRule {
  const { heldOut: _tasks, n: _n, regressions: _set, ...limits } = gate;
  const { prompt, sampled } = budget.prices;
  return {
    ...limits,
    ...(prompt === null || sampled === null ? {} : { prices: { prompt, sampled } }),
  };
}
