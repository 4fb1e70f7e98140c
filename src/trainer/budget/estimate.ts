/** What a run will use and cost, from its options alone. */
import type { BackendCapabilities } from "../../core/backend.ts";
import { capabilityMatrix } from "../../core/capabilities.ts";
import { isDecoupled } from "../update/correct-rows.ts";
import { isBackendLoss } from "../update/update-spec.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import { batchSizeOf } from "../../config/batch-size.ts";
import { isPaidByHour, runPrices, type RunPrices } from "./run-prices.ts";
import { costOf, formatUsd, tokensOf, type Tokens } from "../../runs/spending.ts";

/** Where no option says how long prompts may be. */
const assumedPrompt = 512;

/** What one run, or one step where the number of steps is unknown, is expected to take. */
export interface RunEstimate {
  /** null: the options do not say, and the numbers are those of one step. */
  readonly steps: number | null;
  readonly rolloutsPerStep: number;
  /** Of one model call. */
  readonly promptTokens: number;
  readonly isPromptAssumed: boolean;
  readonly sampledTokens: number;
  readonly usage: Tokens;
  readonly price: RunPrices | null;
  /** Hardware is held for the run, and its kind is known when the run starts. */
  readonly isPaidByHour: boolean;
  /** null where no price is known. */
  readonly usd: number | null;
}

interface RunSize {
  readonly backend: string;
  /** null where only the dataset says it. */
  readonly steps: number | null;
  /** @default those that a backend of this name has */
  readonly capabilities?: BackendCapabilities | undefined;
}

/** Whether the trainer computes the loss, from log-probabilities before each update. */
function isTrainerLoss(config: TrainConfig, { backend, capabilities }: RunSize): boolean {
  const known =
    capabilities ?? (capabilityMatrix as Readonly<Record<string, BackendCapabilities>>)[backend];
  return known !== undefined && !isBackendLoss(config, known);
}

/**
 * Passes over the rows of a step: updates, the reference of a penalty, log-probabilities for KL in rewards, for
 * corrections and for a loss that the trainer computes. Those of the current weights are shared until the first
 * update.
 */
function passesOf(config: TrainConfig, size: RunSize): number {
  const { training, algorithm } = config;
  const reference = algorithm.klBeta > 0 ? 1 : 0;
  const { reject, rolloutTokenVetoThreshold: veto } = algorithm.rolloutCorrection;
  const isCorrected =
    isDecoupled(algorithm.rolloutCorrection) || reject.length > 0 || veto !== null;
  const rewarded = algorithm.useKlInReward ? 1 : 0;
  const first = isCorrected || algorithm.useKlInReward ? 1 : 0;
  const before = isTrainerLoss(config, size)
    ? training.ppoEpochs - first / Math.max(1, training.numMinibatches)
    : 0;
  return training.ppoEpochs * (1 + reference) + first + rewarded + before;
}

/** With one model call per rollout, and completions as long as they may be. Validations are not included. */
export function estimateRun(config: TrainConfig, size: RunSize): RunEstimate {
  const { backend, steps } = size;
  const rolloutsPerStep = batchSizeOf(config) * config.rollout.n;
  const { maxPromptLength } = config.data;
  const promptTokens = maxPromptLength ?? assumedPrompt;
  const sampledTokens = config.rollout.train.maxTokens;
  const calls = rolloutsPerStep * (steps ?? 1);
  const usage = {
    prompt: calls * promptTokens,
    sampled: calls * sampledTokens,
    trained: calls * (promptTokens + sampledTokens) * passesOf(config, size),
  };
  const price = runPrices(config, backend);
  return {
    steps,
    rolloutsPerStep,
    promptTokens,
    isPromptAssumed: maxPromptLength === null,
    sampledTokens,
    usage,
    price,
    isPaidByHour: isPaidByHour(config, backend),
    usd: price === null ? null : costOf(usage, price.prices),
  };
}

const count = (value: number): string => Math.round(value).toLocaleString("en-US");

/** One paragraph. */
export function formatEstimate(estimate: RunEstimate): string {
  const { steps, rolloutsPerStep, promptTokens, sampledTokens, usage, price, usd } = estimate;
  const size = `${rolloutsPerStep} rollouts${steps === null ? "" : ` × ${steps} steps`}`;
  const tokens = `${count(usage.prompt)} prompt + ${count(usage.sampled)} sampled + ${count(usage.trained)} trained = ${count(tokensOf(usage))} tokens`;
  const assumed = estimate.isPromptAssumed ? " (assumed; data.max_prompt_length sets it)" : "";
  const basis = `one model call per rollout, prompts of ${promptTokens} tokens${assumed}, completions of rollout.train.max_tokens=${sampledTokens}, without validations`;
  const cost =
    price === null || usd === null
      ? estimate.isPaidByHour
        ? "The trainer and its deployment are paid by the hour; what an hour costs is shown when they are created."
        : "No price is known; budget.prices sets them."
      : `${formatUsd(usd)} at ${(["prompt", "sampled", "trained"] as const).map((name) => `$${price.prices[name]} ${name}`).join(", ")} per million (${price.source}).`;
  return `${steps === null ? "A step" : "The run"} takes about ${size}: ${tokens}, with ${basis}. ${cost}`;
}

/** What learning from this many tokens costs, as a sentence; null where no price is known. */
export function formatTrainedTokens(trained: number, price: RunPrices | null): string | null {
  if (price === null) return null;
  const { prices, source } = price;
  const usd = costOf({ prompt: 0, sampled: 0, trained }, prices);
  return `The run learns from about ${count(trained)} tokens, without validations: ${formatUsd(usd)} at $${prices.trained} trained per million (${source}).`;
}
