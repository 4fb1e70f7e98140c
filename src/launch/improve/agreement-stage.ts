/** Before a round learns from an evaluator: whether it says of the round's rated answers what people said. */
import type { ImproveConfig } from "../../config/improve/improve-config.ts";
import { ConfigError } from "../../core/errors.ts";
import type { AgreementStage, Round } from "../../runs/rounds/round.ts";
import { agreementText, compareWithThumbs } from "../evaluate/agreement/thumbs.ts";
import { loadEvaluator } from "../load-evaluator.ts";
import { curatedFolder, trainingConfig } from "./round-configs.ts";

export interface AgreementStageOptions {
  readonly config: ImproveConfig;
  readonly round: Round;
  readonly signal: AbortSignal;
  readonly onWarning: ((message: string) => void) | undefined;
}

const nothing: AgreementStage = {
  ...{ n: 0, failed: 0, accuracy: 0, kappa: null, low: null, high: null },
};

/** Calls of the evaluator at the same time. */
const concurrency = 8;

/** @throws ConfigError where it lies below `train.min_kappa`, or is unknown with it */
export async function agreementStage({
  config,
  round: { round, inUse, curate },
  signal,
  onWarning,
}: AgreementStageOptions): Promise<AgreementStage> {
  const { minKappa, agreementSample } = config.train;
  const hasThumbs = curate !== undefined && curate.good + curate.bad > 0;
  if (!hasThumbs && minKappa === null) return nothing;
  const folder = curatedFolder(config.folder, round);
  const val = curate?.rows.val ?? 0;
  const training = trainingConfig(config, { round, model: inUse.model, val });
  const { n, failed, accuracy, kappa, low, high, ...rest } = await compareWithThumbs({
    ...{ folder, sample: agreementSample, seed: 0, concurrency, signal },
    evaluator: await loadEvaluator(training),
    timeoutMs: training.workflow.evaluatorTimeoutS * 1000,
    good: training.rollout.solvedReward ?? 0.5,
  });
  const found = { n, failed, accuracy, kappa, low, high };
  const said = agreementText({ ...found, ...rest });
  const failures = failed === 0 ? "" : `; it failed on ${failed} (${rest.error})`;
  if (minKappa !== null && (kappa === null || kappa < minKappa)) {
    throw new ConfigError({
      message: `Nothing was trained: ${said}${failures}, and train.min_kappa is ${minKappa}.`,
      hint: "Improve the evaluator, and call this again.",
      fields: { option: "train.min_kappa", kappa, minKappa },
    });
  }
  // Chance alone may have agreed as much.
  if (low === null || low <= 0) onWarning?.(`Before training, ${said}${failures}.`);
  return found;
}
