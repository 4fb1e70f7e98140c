/**
 * Episodes as Trackio's traces (`trackio.Trace`, version 0.43): messages as OpenAI has them, metadata, and spans for
 * model calls and tools. One document for each trajectory, with the step and the key to log it under.
 */
import type { Episode, Step, Trajectory } from "../../core/trajectory.ts";
import { isToolError, messageText } from "../../core/message-text.ts";
import { defined } from "../../util/defined.ts";
import { newMessages } from "../../view/episode/conversation.ts";
import { wireMessage } from "../../core/wire-message.ts";

const isoTime = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** Step and kind of a rollout, by its id. */
function originOf({ id }: Episode): { readonly step: number; readonly key: string } {
  const [, validation, step] = /^(val[-/])?(\d+)\//u.exec(id) ?? [];
  if (step === undefined) return { step: 0, key: "evaluation" };
  return { step: Number(step), key: validation === undefined ? "train" : "validation" };
}

function span(name: string, kind: string, [from, until]: readonly [number, number]): object {
  const end = Math.max(from, until);
  return {
    name,
    kind,
    start_time: isoTime(from),
    end_time: isoTime(end),
    duration_ms: end - from,
  };
}

/** Without the prompt: it repeats the messages at every call. */
function callSpans(
  { trace: call, reward }: Step,
  next: Step | undefined,
  results: ReadonlyMap<string, string>,
): object[] {
  const { promptIds, responseIds, usage, untrainable, malformed } = call;
  const parent = {
    id: call.id,
    parent_id: null,
    ...span(`chat ${call.model}`, "generation", [call.startedAt, call.finishedAt]),
    status: malformed === undefined ? "success" : "error",
    ...defined({ error: malformed }),
    output: wireMessage(call.response),
    model: call.model,
    usage: {
      input_tokens: usage?.promptTokens ?? promptIds.length,
      output_tokens: usage?.completionTokens ?? responseIds.length,
    },
    metadata: {
      stop_reason: call.stopReason,
      weight_version: call.weightVersion,
      reward,
      ...defined({ untrainable }),
    },
  };
  const tools = (call.response.toolCalls ?? []).map(({ id, name, arguments: given }) => {
    const result = results.get(id);
    const until = next?.trace.startedAt ?? call.finishedAt;
    return {
      id: `${call.id}/${id}`,
      parent_id: call.id,
      ...span(name, "tool", [call.finishedAt, until]),
      status: result !== undefined && isToolError(result) ? "error" : "success",
      input: given,
      ...defined({ output: result }),
    };
  });
  return [parent, ...tools];
}

function trajectoryDocument(episode: Episode, { name, steps, ...trajectory }: Trajectory): object {
  const messages: object[] = [];
  const results = new Map<string, string>();
  for (const [i, step] of steps.entries()) {
    for (const message of newMessages(step, steps[i - 1]).messages) {
      messages.push(wireMessage(message));
      if (message.role === "tool" && message.toolCallId !== undefined)
        results.set(message.toolCallId, messageText(message.content));
    }
    messages.push(wireMessage(step.trace.response));
  }
  const first = steps[0]?.trace.startedAt ?? 0;
  const last = steps.at(-1)?.trace.finishedAt ?? first;
  const { error } = episode;
  return {
    ...originOf(episode),
    trace: {
      _type: "trackio.trace",
      messages,
      metadata: {
        episode_id: episode.id,
        task_id: episode.task.id,
        trajectory: name,
        reward: trajectory.reward ?? episode.reward,
        is_correct: episode.isCorrect,
        termination_reason: episode.terminationReason,
        status: error === undefined ? "success" : "error",
        duration_ms: Math.max(0, last - first),
        ...(error === undefined ? {} : { error: `${error.name}: ${error.message}` }),
        ...trajectory.signals,
      },
      spans: steps.flatMap((step, i) => callSpans(step, steps[i + 1], results)),
    },
  };
}

/** A document for each trajectory with calls. */
export const trackioDocuments = (episode: Episode): object[] =>
  episode.trajectories
    .filter(({ steps }) => steps.length > 0)
    .map((trajectory) => trajectoryDocument(episode, trajectory));
