/** Compares the candidate of a round with the model in use; evaluations that were stopped go on. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ImproveConfig } from "../../config/improve/improve-config.ts";
import type { EvaluationOptions } from "../evaluate/evaluation-options.ts";
import { type GateOptions, gate } from "../evaluate/gate.ts";
import { readEpisodes } from "../../runs/evaluations/recorded-episodes.ts";
import { addRegressions } from "../../runs/evaluations/regression-set.ts";
import type { GateResult } from "../../runs/evaluations/gate-folders.ts";
import { roundFolder } from "../../runs/rounds/round-file.ts";
import type { GateStage, TrainStage, Round } from "../../runs/rounds/round.ts";
import { writeFileAtomicSync } from "../../util/files/atomic-write.ts";
import { defined } from "../../util/defined.ts";
import { gateConfig, gateRule } from "./round-configs.ts";

export type GateWatch = Pick<EvaluationOptions, "signal" | "onResult" | "onWarning" | "onPull">;

const gateFolder = (folder: string, round: number): string =>
  join(roundFolder(folder, round), "gate");

/** The set as it was when the gate began: what this round adds must not be asked of a gate that goes on. */
function heldRegressions(given: string | null, folder: string): string | undefined {
  if (given === null) return undefined;
  const path = join(folder, "regressions.jsonl");
  if (existsSync(path)) return path;
  if (!existsSync(given)) return undefined;
  writeFileAtomicSync(path, readFileSync(given));
  return path;
}

export async function gateStage(
  config: ImproveConfig,
  { round, inUse, train }: Round & { readonly train: TrainStage },
  watch: GateWatch,
): Promise<GateStage> {
  const evaluated = gateConfig(config);
  const folder = gateFolder(config.folder, round);
  const options: GateOptions = {
    ...watch,
    config: evaluated,
    folder,
    current: inUse.model,
    candidate: train.candidate.model,
    rule: gateRule(config, evaluated),
    ...defined({
      n: config.gate.n ?? undefined,
      regressions: heldRegressions(config.gate.regressions, roundFolder(config.folder, round)),
    }),
  };
  return summaryOf(await gate(options));
}

function summaryOf({ verdict, misses, heldOut, gained }: GateResult): GateStage {
  const main = heldOut.reward ?? heldOut.pass;
  return {
    verdict,
    misses,
    tasks: heldOut.tasks,
    difference:
      main === null
        ? null
        : {
            current: main.a,
            candidate: main.b,
            difference: main.difference,
            low: main.low,
            high: main.high,
          },
    gained,
  };
}

/** Adds what the candidate newly solves to the regression set; what is in it already is left out. */
export function growRegressions(
  { folder, gate: { regressions } }: ImproveConfig,
  { round, gate: found }: Round,
): number {
  if (regressions === null) return 0;
  const gained = new Set(found?.gained);
  const tasks = [...readEpisodes(join(gateFolder(folder, round), "candidate"))].flatMap(
    ({ task }) => (gained.has(task.id) ? [task] : []),
  );
  return addRegressions(regressions, tasks);
}
