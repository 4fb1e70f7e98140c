/** Rewards while a model learns from examples: the agent of the options, or of code, on validation tasks. */
import type { InferenceTarget } from "../../core/backend.ts";
import { ConfigError } from "../../core/errors.ts";
import type { Task } from "../../core/task.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import type { DatasetInput } from "../../datasets/tasks/task.ts";
import { type AgentSpec, hasAgent, type Rollouts } from "../../rollouts/service/agent-spec.ts";
import { createRolloutService } from "../../rollouts/service/gateway-service.ts";
import { meteredService } from "../../trainer/budget/metered.ts";
import type { MeasuredRewards } from "../../trainer/steppers/examples.ts";
import { validate } from "../../trainer/steppers/measure.ts";
import type { StartedRun } from "../../trainer/training.ts";
import { requireAgent } from "../load-agent.ts";
import { agentIn, openRunEnvironment } from "../run-environment.ts";
import { loadTasks } from "../run-datasets.ts";

/** An agent with what scores it, and the tasks of the validations. */
export type RewardedAgent = AgentSpec & { readonly valDataset: DatasetInput };

/** Loaded, and not started: disposing of it closes the environment. */
export interface RewardParts extends AsyncDisposable {
  readonly rollouts: Rollouts;
  readonly valTasks: readonly Task[];
  readonly warnings: readonly string[];
}

/** Training data plays no part, unless validation tasks are split from it. */
function withoutTraining(config: TrainConfig): TrainConfig {
  const { dataset } = config;
  const train = dataset.valFraction > 0 && dataset.val === null ? dataset.train : null;
  return { ...config, dataset: { ...dataset, train, leakCheck: false } };
}

/** @throws ConfigError where there is no agent, no evaluator or no task. */
export async function loadRewards(
  config: TrainConfig,
  folder: string,
  given: RewardedAgent | null,
  signal: AbortSignal,
): Promise<RewardParts> {
  if (config.dataset.sources.length > 0) {
    throw new ConfigError({
      message: "fine_tuning.rewards has one agent, and dataset.sources names several sources.",
      hint: "Name the validation tasks with dataset.val, or remove dataset.sources.",
      fields: { option: "dataset.sources" },
    });
  }
  const agent = given !== null && hasAgent(given) ? given : null;
  const env = await openRunEnvironment(config, folder);
  try {
    if (agent === null && env === null) requireAgent(config, {});
    const environment = env?.source ?? null;
    const rollouts = await agentIn(agent, config, folder, environment, {});
    const valDataset = given?.valDataset ?? null;
    const read = { valDataset, environment, valOnly: true, signal };
    const { valTasks, warnings } = await loadTasks(withoutTraining(config), folder, read);
    if (valTasks.length === 0) {
      throw new ConfigError({
        message: "fine_tuning.rewards needs validation tasks, and there are none.",
        hint: "Set dataset.val, or remove the option.",
        fields: { option: "dataset.val" },
      });
    }
    const close = async (): Promise<void> => await env?.[Symbol.asyncDispose]();
    return { rollouts, valTasks, warnings, [Symbol.asyncDispose]: close };
  } catch (error) {
    await env?.[Symbol.asyncDispose]();
    throw error;
  }
}

/** Starts the gateway; its model is the one that is trained. */
export async function startRewards(
  run: StartedRun,
  target: InferenceTarget,
  { rollouts, valTasks }: RewardParts,
): Promise<MeasuredRewards & AsyncDisposable> {
  const { backend, budget, config, state } = run;
  const service = await createRolloutService({
    ...meteredService(target, budget),
    ...{ rollouts, config, weightVersion: state.weightVersion },
  });
  const context = { ...run, valTasks, rollouts: service.run };
  return {
    publish: () => service.gate.publish(backend),
    validate: (step) => validate(context, step),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}
