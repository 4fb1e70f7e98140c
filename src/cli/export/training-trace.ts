/**
 * Token-level traces as OpenEnv's `TrainingTrace`, version 1, which TRL trains on: prompt, completion,
 * log-probabilities and mask of each call. Rewards, for which the format has no field, are metadata of turns.
 */
import type { Episode, Step, Trajectory } from "../../core/trajectory.ts";
import { wireTool } from "../../core/tool-json.ts";
import { wireMessage } from "../../core/wire-message.ts";

function turn(episode: Episode, trajectory: Trajectory, { trace, reward }: Step): object {
  const { promptIds, responseIds, logprobs } = trace;
  // What is kept out of training here is context there.
  const isTrained = trajectory.untrained === undefined && trace.untrainable === undefined;
  const mask = (length: number, value: 0 | 1): number[] => Array.from({ length }, () => value);
  return {
    node_id: trace.id,
    prompt_token_ids: [...promptIds],
    completion_token_ids: [...responseIds],
    per_token_logps: [...logprobs],
    loss_mask: [...mask(promptIds.length, 0), ...mask(responseIds.length, isTrained ? 1 : 0)],
    request: {
      model: trace.model,
      messages: trace.messages.map(wireMessage),
      ...(trace.tools.length === 0 ? {} : { tools: trace.tools.map(wireTool) }),
    },
    response: { message: wireMessage(trace.response), finish_reason: trace.stopReason },
    metadata: {
      episode_id: episode.id,
      task_id: episode.task.id,
      trajectory: trajectory.name,
      trajectory_reward: trajectory.reward ?? episode.reward,
      step_reward: reward,
      weight_version: trace.weightVersion,
    },
  };
}

/** A trace for each trajectory that has token ids. */
export function trainingTraces(episode: Episode): object[] {
  return episode.trajectories.flatMap((trajectory) => {
    const steps = trajectory.steps.filter(
      ({ trace: { promptIds, responseIds, logprobs } }) =>
        promptIds.length > 0 && responseIds.length > 0 && logprobs.length === responseIds.length,
    );
    if (steps.length === 0) return [];
    return { schema_version: 1, turns: steps.map((step) => turn(episode, trajectory, step)) };
  });
}
