/**
 * Whether a step taught the model anything, and if not why: in the metrics of the step, and as a
 * sentence at the end of a run in which no step did. Pure.
 */
import { AgentTrainerError } from "../../core/errors.ts";
import { lossNames } from "../../core/loss/loss.ts";
import type { NamedMetrics } from "../../core/metric-names.ts";
import { isFailed, isOverflowed } from "../../core/outcome.ts";
import { skipPrefix, type SkipReason, skipReason } from "../../core/skip-reason.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import { episodesOf, type TaskRollouts } from "../../rollouts/task-rollouts.ts";
import { unusedMetrics } from "./unused.ts";

type Metrics = Readonly<NamedMetrics>;

/** With a remedy. */
const reasons: Readonly<Record<SkipReason, string>> = {
  no_tasks:
    "rejection sampling dropped every task, because the rollouts of each teach nothing (equal rewards) or too few of its rollouts were scored",
  failed: "every rollout failed; see the errors under episodes/ in the run folder",
  prompt_too_long:
    "every rollout ended because a prompt did not fit: raise data.max_prompt_length where it is set, shorten the prompts, or take a model with a longer context",
  nothing_captured:
    "no rollout left anything to train on: its calls did not come through config.baseUrl, or cannot be trained on",
  no_reward: "nothing that could be trained on had a reward",
  excluded:
    "options excluded everything there was to train on: algorithm.excluded_reasons, rollout.untrained_roles, algorithm.mask_truncated_samples or algorithm.rollout_correction",
  equal_rewards:
    "the advantages were all 0, as with equal rewards in each group, so there was nothing to prefer: make tasks harder or easier, the reward finer, or rollout.n larger",
  not_finite: "the update was skipped, because a loss or gradient was not finite",
};

export interface StepFacts {
  readonly rollouts: readonly TaskRollouts[];
  readonly rows: readonly TrainingRow[];
  /** Metrics from building the rows. */
  readonly metrics: Metrics;
  readonly hasChanged: boolean;
}

const known: ReadonlySet<string> = new Set(lossNames);

const areZero = (rows: readonly TrainingRow[]): boolean =>
  rows.every(({ advantages }) => advantages.every((value) => value === 0));

const lossesOf = ({ algorithm }: TrainConfig): string[] => [
  algorithm.loss.type,
  ...algorithm.lossByRole.map(({ type }) => type),
];

/** The loss has no terms but advantages, and they are all 0. */
function isFlat(config: TrainConfig, rows: readonly TrainingRow[]): boolean {
  // A custom loss may learn from anything.
  const readsMore = lossesOf(config).some((name) => name === "cross_entropy" || !known.has(name));
  // Cross-entropy of what was observed, or a critic's values.
  const hasMore = rows.some((row) => (row.observationWeights ?? row.returns) !== undefined);
  return config.algorithm.klBeta === 0 && !readsMore && !hasMore && areZero(rows);
}

/** Something else than advantages taught the model: a custom loss, a penalty, observations, returns. */
function hasZeroAdvantages(config: TrainConfig, rows: readonly TrainingRow[]): boolean {
  return lossesOf(config).some((name) => name !== "cross_entropy") && areZero(rows);
}

function reasonOf(config: TrainConfig, facts: StepFacts): SkipReason | null {
  const { rollouts, rows, metrics, hasChanged } = facts;
  if (hasChanged && !isFlat(config, rows)) return null;
  if (!hasChanged && rows.length > 0) return "not_finite";
  if (rollouts.length === 0) return "no_tasks";
  if (episodesOf(rollouts).every(isFailed)) return "failed";
  if (hasChanged) return "equal_rewards";
  if (episodesOf(rollouts).every(isOverflowed)) return "prompt_too_long";
  const uniform = metrics["groups/dropped/uniform_groups"] ?? 0;
  const count = metrics["groups/count"] ?? 0;
  if (count > 0) return uniform === count ? "equal_rewards" : "excluded";
  type Drop = "excluded_episodes" | "invalid_reward" | "no_reward" | "untrained";
  const dropped = (name: Drop): number => metrics[`groups/dropped/${name}`] ?? 0;
  if (dropped("no_reward") + dropped("invalid_reward") > 0) return "no_reward";
  return dropped("untrained") + dropped("excluded_episodes") > 0 ? "excluded" : "nothing_captured";
}

/**
 * What is not in the update; `train/skip_reason/...`: 1 where the step taught nothing.
 */
export function learningMetrics(config: TrainConfig, facts: StepFacts): Record<string, number> {
  const reason = reasonOf(config, facts);
  const isZero = reason === null && hasZeroAdvantages(config, facts.rows);
  return {
    ...unusedMetrics(episodesOf(facts.rollouts), facts.rows),
    ...(reason === null ? {} : { [`${skipPrefix}${reason}`]: 1 }),
    ...(isZero ? { "train/zero_advantages": 1 } : {}),
  };
}

/** What further steps will not change: the agent, the task or the connection is broken. */
const lasting: ReadonlySet<SkipReason> = new Set(["failed", "prompt_too_long", "nothing_captured"]);

/** What the steps of a run taught. */
export class LearningRecord {
  readonly #counts = new Map<SkipReason, number>();
  #steps = 0;
  #hasLearned: boolean;

  /** @param hasLearned whether steps of an earlier process did. */
  constructor(hasLearned: boolean) {
    this.#hasLearned = hasLearned;
  }

  add(metrics: Metrics): void {
    const reason = skipReason(metrics);
    this.#steps++;
    if (reason === null) this.#hasLearned = true;
    else this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
  }

  /** @throws AgentTrainerError NOTHING_LEARNED after `least` steps or more of which each had a lasting reason. */
  stopIfHopeless(least: number): void {
    const why = this.whyNothing;
    const isLasting = [...this.#counts.keys()].every((reason) => lasting.has(reason));
    if (why === null || this.#steps < least || !isLasting) return;
    throw new AgentTrainerError({
      code: "NOTHING_LEARNED",
      message: why,
      hint: "Run the agent on one task: agent-trainer try CONFIG.yaml. trainer.stop_when_nothing_learned=false trains on all the same.",
      fields: { steps: this.#steps, reasons: [...this.#counts.keys()] },
    });
  }

  /** Why nothing was learned, as a sentence; null when something was. */
  get whyNothing(): string | null {
    if (this.#hasLearned) return null;
    if (this.#steps === 0) return "Nothing was learned: no step of this run changed the weights.";
    const parts = [...this.#counts]
      .sort(([, a], [, b]) => b - a)
      .map(([reason, count]) => `in ${count} of ${this.#steps} steps ${reasons[reason]}`);
    return `Nothing was learned: ${parts.join("; ")}.`;
  }
}
