/** OpenEnv's `TrainingTrace`, version 1, as drafts of episodes. */
import { z } from "zod";
import { parseConversation } from "../../launch/finetune/examples/conversation.ts";
import type { DraftedTrajectory } from "./drafted-episode.ts";

const turn = z.looseObject({
  node_id: z.string().nullish(),
  prompt_token_ids: z.array(z.int()),
  completion_token_ids: z.array(z.int()),
  per_token_logps: z.array(z.number()).nullish(),
  request: z.looseObject({ model: z.string().nullish(), messages: z.array(z.unknown()) }).nullish(),
  response: z
    .looseObject({ message: z.unknown().optional(), finish_reason: z.string().nullish() })
    .nullish(),
  metadata: z
    .looseObject({
      episode_id: z.string().optional(),
      task_id: z.string().optional(),
      trajectory: z.string().optional(),
      trajectory_reward: z.number().nullish(),
      step_reward: z.number().nullish(),
      weight_version: z.int().nullish(),
    })
    .nullish(),
});

const document = z.looseObject({ schema_version: z.literal(1), turns: z.array(turn).min(1) });

/** @throws z.ZodError, or RowError for messages that are none. */
export function readTrainingTrace(value: unknown, at: string): DraftedTrajectory {
  const { turns } = document.parse(value);
  const about = turns[0]?.metadata ?? {};
  const calls = turns.map((given, i) => {
    const { request, response, per_token_logps: logprobs, metadata } = given;
    const said = response?.message ?? { role: "assistant", content: "" };
    const { messages, tools } = parseConversation(
      { ...request, messages: [...(request?.messages ?? []), said] },
      `${at}, turn ${i + 1}`,
    );
    const length = given.completion_token_ids.length;
    return {
      id: given.node_id ?? `${at}/${i}`,
      messages: messages.slice(0, -1),
      tools,
      response: messages.at(-1)!,
      model: request?.model ?? "",
      promptIds: given.prompt_token_ids,
      responseIds: given.completion_token_ids,
      logprobs: logprobs?.length === length ? logprobs : [],
      stopReason: response?.finish_reason === "length" ? ("length" as const) : ("stop" as const),
      weightVersion: metadata?.weight_version ?? null,
      reward: metadata?.step_reward ?? null,
      finishedAt: 0,
    };
  });
  const reward = about.trajectory_reward ?? null;
  const task = about.task_id ?? at;
  const episode = about.episode_id ?? at;
  const name = about.trajectory ?? "agent";
  return {
    episode,
    uid: `${episode}/${name}`,
    name,
    task: { id: task, instruction: "" },
    reward,
    isCorrect: null,
    calls,
  };
}
