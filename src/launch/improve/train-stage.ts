/** Trains the candidate of a round from the model in use; a run that was stopped goes on from its checkpoint. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ImproveConfig } from "../../config/improve/improve-config.ts";
import { AgentTrainerError } from "../../core/errors.ts";
import type { EventListener } from "../../trainer/events.ts";
import type { Round, TrainStage } from "../../runs/rounds/round.ts";
import { roundFolder } from "../../runs/rounds/round-file.ts";
import { configFile } from "../../runs/stored-config.ts";
import { AgentTrainer } from "../agent-trainer.ts";
import { fineTune, type FineTuneOptions } from "../finetune/fine-tune.ts";
import { pinned } from "./pinned.ts";
import { trainingConfig } from "./round-configs.ts";

export interface TrainStageOptions extends Pick<FineTuneOptions, "onPull"> {
  readonly config: ImproveConfig;
  readonly round: Round;
  readonly signal: AbortSignal;
  readonly onEvent: EventListener;
}

/** @throws AgentTrainerError ABORTED when it was interrupted. */
export async function trainStage(options: TrainStageOptions): Promise<TrainStage> {
  const { config: improve, round, ...rest } = options;
  const run = roundFolder(improve.folder, round.round);
  const { model } = round.inUse;
  const val = round.curate?.rows.val ?? 0;
  const config = trainingConfig(improve, { round: round.round, model, val });
  const given = { config, ...rest, ...(existsSync(join(run, configFile)) && { resume: "auto" }) };
  const way = improve.train.with;
  const { status, steps } =
    way === "rl" ? await new AgentTrainer(given).train() : await fineTune(given);
  if (status === "interrupted") {
    throw new AgentTrainerError({
      code: "ABORTED",
      message: `Round ${round.round} was interrupted while it trained.`,
      hint: "The same command continues it.",
    });
  }
  return { with: way, steps, candidate: await pinned(run) };
}
