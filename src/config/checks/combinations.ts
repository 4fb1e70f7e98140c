/** Checks combinations of options, each of which is valid on its own. */
import { parseRejection } from "../../algorithms/rollout-correction/rejection.ts";
import { rewardSignal } from "../../algorithms/signals.ts";
import { defaultAdapter } from "../../core/adapter-names.ts";
import { ConfigError } from "../../core/errors.ts";
import { adapterNames, adaptersOf, frozenRoles } from "../adapter-map.ts";
import type { TrainConfig } from "../train-config.ts";
import { weightsOf } from "../role-map.ts";

/** Problems, as sentences. */
function combinationProblems(config: TrainConfig): string[] {
  return [
    ...rejectionRuleProblems(config),
    ...stepwiseProblems(config),
    ...signalProblems(config),
    ...criticProblems(config),
    ...guardProblems(config),
    ...sourceProblems(config),
    ...selfTeacherProblems(config),
    ...adapterProblems(config),
    ...loopProblems(config),
    ...sizeProblems(config),
  ];
}

/** Rollouts of one step, which are in memory with all their calls until its update. */
const maxRollouts = 1_000_000;

function sizeProblems({ data, rollout, asyncTraining }: TrainConfig): string[] {
  const { enable, miniBatchSize } = asyncTraining;
  const isOfAsync = enable && miniBatchSize !== null;
  const [name, tasks] = isOfAsync
    ? ["async_training.mini_batch_size", miniBatchSize]
    : ["data.train_batch_size", data.trainBatchSize];
  const rollouts = tasks * rollout.n;
  if (rollouts <= maxRollouts) return [];
  return [
    `${name}=${tasks} with rollout.n=${rollout.n} is ${rollouts} rollouts in each step, which no machine holds; the limit is ${maxRollouts}. Lower either.`,
  ];
}

function rejectionRuleProblems({ algorithm }: TrainConfig): string[] {
  const rules = parseRejection(algorithm.rolloutCorrection.reject);
  return typeof rules === "string" ? [`algorithm.rollout_correction.reject: ${rules}.`] : [];
}

function stepwiseProblems({ stepwiseAdvantage }: TrainConfig): string[] {
  const { enable, mode, normalizeBySteps } = stepwiseAdvantage;
  if (!enable || mode === "per_step" || normalizeBySteps) return [];
  return [
    "stepwise_advantage.enable=true has no effect with stepwise_advantage.mode=broadcast, unless stepwise_advantage.normalize_by_steps=true: all steps get the advantage of their trajectory in any case. Set stepwise_advantage.mode=per_step, or stepwise_advantage.enable=false.",
  ];
}

/** Without a hint, the teacher is the policy itself. */
function selfTeacherProblems({ distillation }: TrainConfig): string[] {
  const { teacher, hint } = distillation;
  if (teacher !== "self" || hint !== null) return [];
  return [
    "distillation.teacher=self without distillation.hint has nothing to teach: both are the same model with the same prompt. Name a field of the task, or a function.",
  ];
}

/** What is said of roles that no adapter is trained by. */
function adapterProblems({ model, rollout, algorithm, training }: TrainConfig): string[] {
  const frozen = frozenRoles(model.adapterByRole);
  const options = {
    "algorithm.estimator_by_role": algorithm.estimatorByRole,
    "algorithm.loss_by_role": algorithm.lossByRole,
  };
  const unread = Object.entries(options).flatMap(([option, entries]) =>
    entries
      .filter(({ role }) => frozen.includes(role))
      .map(
        ({ role }) =>
          `${option} names the role ${role}, which model.adapter_by_role freezes. Give it an adapter, or remove it from ${option}.`,
      ),
  );
  const roles = adaptersOf(model.adapterByRole);
  const idle = adapterNames(model.adapterByRole).filter((name) =>
    [...roles].every(([role, own]) => own !== name || rollout.untrainedRoles.includes(role)),
  );
  const known = [...adapterNames(model.adapterByRole), defaultAdapter];
  const isWithCritic =
    algorithm.estimator.type === "gae" && adapterNames(model.adapterByRole).length > 0;
  const isWithoutLora = model.adapterByRole.length > 0 && model.loraRank === 0;
  return [
    ...(isWithoutLora
      ? [
          "model.adapter_by_role gives roles LoRA adapters, but model.lora_rank=0 trains all weights, which roles share. Set model.lora_rank above 0.",
        ]
      : []),
    ...unread,
    ...(isWithCritic
      ? [
          "algorithm.estimator is gae, whose critic reads the hidden states of one adapter, but model.adapter_by_role has several. Take another estimator, or give roles default or none.",
        ]
      : []),
    ...[...weightsOf(training.learningRateByAdapter).keys()]
      .filter((name) => !known.includes(name))
      .map(
        (name) =>
          `training.learning_rate_by_adapter names the adapter ${name}, which model.adapter_by_role does not have. It has ${known.join(", ")}.`,
      ),
    ...idle.map(
      (name) =>
        `model.adapter_by_role has the adapter ${name}, but every role of it is in rollout.untrained_roles, so it is never trained. Set it to none.`,
    ),
  ];
}

/** Where the tasks of a run are said to be twice. */
function sourceProblems({ dataset, env }: TrainConfig): string[] {
  const given = {
    "dataset.train": dataset.train,
    "dataset.val": dataset.val,
    "dataset.val_fraction": dataset.valFraction === 0 ? null : dataset.valFraction,
    env,
  };
  if (dataset.sources.length === 0) return [];
  return Object.entries(given).flatMap(([option, value]) =>
    value === null
      ? []
      : [
          `${option}=${value} cannot be combined with dataset.sources, each of which names its own data and environment.`,
        ],
  );
}

/** What `gdpo` normalizes are the signals of whole trajectories; what options add is part of the reward. */
function signalProblems({ algorithm, stepwiseAdvantage }: TrainConfig): string[] {
  const all = [algorithm.estimator, ...algorithm.estimatorByRole];
  const weights = all.flatMap((one) => (one.type === "gdpo" ? [weightsOf(one.weights)] : []));
  if (weights.length === 0) return [];
  const problems: string[] = [];
  if (stepwiseAdvantage.enable && stepwiseAdvantage.mode === "per_step") {
    problems.push(
      "stepwise_advantage.mode=per_step compares returns of steps, but algorithm.estimator=gdpo normalizes the signals of whole trajectories. Set stepwise_advantage.enable=false, or another estimator.",
    );
  }
  if (weights.every((map) => map.has(rewardSignal))) return problems;
  const added = [
    ...(algorithm.overlongBuffer.enable ? ["algorithm.overlong_buffer.enable"] : []),
    ...(algorithm.useKlInReward ? ["algorithm.use_kl_in_reward"] : []),
  ];
  for (const option of added) {
    problems.push(
      `${option}=true adds to the reward, which algorithm.estimator=gdpo reads only where algorithm.estimator.weights names it. Add ${rewardSignal} to the weights.`,
    );
  }
  return problems;
}

/** A critic gives each token its own advantage, which steps neither share nor discount. */
function criticProblems({ algorithm, stepwiseAdvantage }: TrainConfig): string[] {
  const { enable, gamma, normalizeBySteps } = stepwiseAdvantage;
  if (algorithm.estimator.type !== "gae" || !enable) return [];
  return [
    ...(normalizeBySteps
      ? [
          "stepwise_advantage.normalize_by_steps=true divides advantages by the number of steps, but algorithm.estimator=gae gives each token its own. Set it to false.",
        ]
      : []),
    ...(gamma === 1
      ? []
      : [
          `stepwise_advantage.gamma=${gamma} discounts steps, but algorithm.estimator=gae discounts tokens. Set algorithm.estimator.gamma instead.`,
        ]),
  ];
}

/** Cross-entropy compares with nothing that was sampled, so there is no ratio to limit. */
function guardProblems({ algorithm, guards }: TrainConfig): string[] {
  if (algorithm.loss.type !== "cross_entropy" || algorithm.lossByRole.length > 0) return [];
  const limits = { "guards.kl": guards.kl, "guards.ratio": guards.ratio };
  return Object.entries(limits).flatMap(([option, limit]) =>
    limit === null
      ? []
      : [
          `${option}=${limit} limits ratios to the weights that sampled, which algorithm.loss=cross_entropy does not have. Set guards.grad_norm instead, or another loss.`,
        ],
  );
}

/** @throws ConfigError that names every problem. */
export function checkCombinations(config: TrainConfig): void {
  const problems = combinationProblems(config);
  if (problems.length === 0) return;
  throw new ConfigError({
    message:
      problems.length === 1
        ? (problems[0] as string)
        : `The configuration has ${problems.length} problems:\n${problems.map((line) => `- ${line}`).join("\n")}`,
    fields: { problems },
  });
}

/** Problems, as sentences. */
function loopProblems(config: TrainConfig): string[] {
  return [...asyncProblems(config), ...rejectionProblems(config)];
}

function asyncProblems({ asyncTraining, trainer }: TrainConfig): string[] {
  const { enable, triggerParameterSyncStep: every } = asyncTraining;
  if (!enable || trainer.testFreq % every === 0) return [];
  return [
    `trainer.test_freq=${trainer.testFreq} must be a multiple of async_training.trigger_parameter_sync_step=${every}: between weight syncs, the served weights are not those of the step.`,
  ];
}

function rejectionProblems({ algorithm, rejectionSample, rollout }: TrainConfig): string[] {
  if (!rejectionSample.enable || rollout.n > 1 || algorithm.estimator.type === "gae") return [];
  return [
    "rejection_sample.enable=true with rollout.n=1 would drop every task: with one rollout per task, there is nothing to compare. Set rollout.n to at least 2.",
  ];
}
