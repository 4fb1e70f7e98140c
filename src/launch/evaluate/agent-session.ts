/** An agent on a model that stays loaded, for tasks that come one by one: nothing is scored or recorded. */
import type { TrainConfig } from "../../config/train-config.ts";
import { AgentTrainerError, ConfigError } from "../../core/errors.ts";
import type { Episode } from "../../core/trajectory.ts";
import { createRolloutService } from "../../rollouts/service/gateway-service.ts";
import { deriveSeed } from "../../util/random.ts";
import { agentIn } from "../run-environment.ts";
import { evaluationConfig } from "./evaluation-config.ts";
import type { EvaluationRunOptions } from "./evaluation-options.ts";
import { locateModel } from "./locate-model.ts";
import { startModel } from "./start-model.ts";

export interface AgentSessionOptions extends Pick<
  EvaluationRunOptions<never>,
  "onPull" | "onWarning"
> {
  /** Names the agent. */
  readonly config: TrainConfig;
  /** As that of an evaluation. */
  readonly model: string;
  /** Aborting it ends loading the model. */
  readonly signal: AbortSignal;
}

export interface AgentSession extends AsyncDisposable {
  /** The agent's episode on a task of which only the instruction is known; `task.metadata` is empty. */
  run(instruction: string, signal: AbortSignal): Promise<Episode>;
}

/** @throws ConfigError for an environment, whose tasks cannot be typed; what loading agent or model throws. */
export async function openAgentSession(options: AgentSessionOptions): Promise<AgentSession> {
  const { signal, onWarning } = options;
  const located = await locateModel(options.model);
  const resolved = evaluationConfig({ config: options.config }, located);
  const { config, folder } = resolved;
  if (config.env !== null) {
    throw new ConfigError({
      message: `The agent acts in the environment ${config.env}, which gives it its tasks.`,
      hint: "Look at one of them: agent-trainer try CONFIG.yaml --model MODEL",
      fields: { option: "env", value: config.env },
    });
  }
  const { evaluator: _, ...rollouts } = await agentIn(null, config, folder, null, {
    isGroupScored: true,
  });
  const started = await startModel(located, resolved, options, signal);
  const service = await createRolloutService({
    target: started.target,
    // Only the agent knows the task, so there is nothing to score it by.
    rollouts: { ...rollouts, evaluator: () => 0 },
    config,
    weightVersion: started.weightVersion,
    keepsUntrainable: true,
  }).catch(async (error: unknown) => {
    await started[Symbol.asyncDispose]();
    throw error;
  });
  let tasks = 0;
  return {
    async run(instruction, own) {
      const id = String((tasks += 1));
      const task = { id, instruction, metadata: {} };
      const seed = deriveSeed(config.trainer.seed, "chat", id);
      const [episode] = await service.run([{ task, rolloutIndex: 0, episodeId: id, seed }], {
        isValidation: true,
        signal: own,
        onEvent: (event) => {
          if (event.type === "warning") onWarning?.(event.message);
        },
      });
      own.throwIfAborted();
      if (episode !== undefined) return episode;
      throw new AgentTrainerError({ code: "INTERNAL", message: "The agent has no episode." });
    },
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await started[Symbol.asyncDispose]();
    },
  };
}
