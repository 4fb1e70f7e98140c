/**
 * Trajectories in Harbor's Agent Trajectory Interchange Format, ATIF-v1.8: one document for each trajectory of
 * an episode, with system prompts, tools, token ids and log-probabilities.
 */
import type { ChatMessage } from "../../core/message.ts";
import type { Episode, Step, Trajectory } from "../../core/trajectory.ts";
import { newMessages } from "../../view/episode/conversation.ts";
import { messageText } from "../../core/message-text.ts";
import { wireTool } from "../../core/tool-json.ts";
import { parseObject } from "../../util/json-object.ts";

type Fields = Readonly<Record<string, unknown>>;

interface AtifStep {
  step_id: number;
  source: "system" | "user" | "agent";
  message: unknown;
  tool_calls?: { tool_call_id: string; function_name: string; arguments: Fields }[];
  observation?: { results: object[] };
  [field: string]: unknown;
}

/** Kinds of images that the format knows. */
const imageTypes: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
};

/** Text, or parts where there are images by address; others are named in the text. */
function contentOf(content: ChatMessage["content"]): unknown {
  if (typeof content === "string") return content;
  const parts = content.map((part) => {
    if (part.type === "text") return { type: "text", text: part.text };
    const kind = imageTypes[/\.(\w+)(?:$|\?)/u.exec(part.url)?.[1]?.toLowerCase() ?? ""];
    return kind === undefined || part.url.startsWith("data:")
      ? { type: "text", text: messageText([part]) }
      : { type: "image", source: { media_type: kind, path: part.url } };
  });
  return parts.some(({ type }) => type === "image") ? parts : messageText(content);
}

/** The format wants an object; what a model wrote may be none. */
function argumentsOf(text: string): Fields {
  return parseObject(text === "" ? "{}" : text) ?? { text };
}

const callsOf = ({ toolCalls = [] }: ChatMessage): Pick<AtifStep, "tool_calls"> =>
  toolCalls.length === 0
    ? {}
    : {
        tool_calls: toolCalls.map((call) => ({
          tool_call_id: call.id,
          function_name: call.name,
          arguments: argumentsOf(call.arguments),
        })),
      };

const sources = { system: "system", user: "user", assistant: "agent", tool: "user" } as const;

/** Steps of one trajectory, numbered from 1. */
class Steps {
  readonly list: AtifStep[] = [];

  add(step: Omit<AtifStep, "step_id">): void {
    this.list.push({ ...step, step_id: this.list.length + 1 } as AtifStep);
  }

  /** A message that no call of this trajectory sampled. */
  message(message: ChatMessage, isCopied: boolean): void {
    const copied = isCopied ? { is_copied_context: true } : {};
    if (message.role === "tool") {
      const { toolCallId } = message;
      const caller = this.list.findLast(({ tool_calls = [] }) =>
        tool_calls.some((call) => call.tool_call_id === toolCallId),
      );
      const result = { content: contentOf(message.content) };
      if (caller !== undefined) {
        caller.observation ??= { results: [] };
        // A conversation that begins anew repeats its results.
        if (!isCopied || caller.is_copied_context === true)
          caller.observation.results.push({ source_call_id: toolCallId, ...result });
        return;
      }
    }
    this.add({
      source: sources[message.role],
      message: contentOf(message.content),
      ...(message.role === "assistant" ? callsOf(message) : {}),
      ...copied,
    });
  }

  call({ trace, reward }: Step): void {
    const { response, promptIds, responseIds, logprobs, usage } = trace;
    const hasTokens = responseIds.length > 0;
    this.add({
      source: "agent",
      timestamp: new Date(trace.finishedAt).toISOString(),
      model_name: trace.model,
      message: contentOf(response.content),
      ...(response.reasoning === undefined ? {} : { reasoning_content: response.reasoning }),
      ...callsOf(response),
      metrics: {
        prompt_tokens: usage?.promptTokens ?? promptIds.length,
        completion_tokens: usage?.completionTokens ?? responseIds.length,
        ...(usage?.cachedTokens === undefined ? {} : { cached_tokens: usage.cachedTokens }),
        ...(hasTokens
          ? {
              prompt_token_ids: [...promptIds],
              completion_token_ids: [...responseIds],
              logprobs: [...logprobs],
            }
          : {}),
        extra: { logprob_kind: trace.logprobKind, weight_version: trace.weightVersion },
      },
      llm_call_count: 1,
      extra: { trace_id: trace.id, stop_reason: trace.stopReason, reward },
    });
  }
}

function trajectoryDocument(episode: Episode, trajectory: Trajectory, version: string): object {
  const steps = new Steps();
  for (const [i, step] of trajectory.steps.entries()) {
    const before = trajectory.steps[i - 1];
    const { messages, break: why } = newMessages(step, before);
    for (const message of messages)
      steps.message(message, before !== undefined && why !== undefined);
    steps.call(step);
  }
  const traces = trajectory.steps.map(({ trace }) => trace);
  const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);
  const tools = new Map(traces.flatMap((trace) => trace.tools.map((tool) => [tool.name, tool])));
  return {
    schema_version: "ATIF-v1.8",
    session_id: episode.id,
    trajectory_id: trajectory.uid,
    agent: {
      name: trajectory.name,
      version,
      ...(traces[0] === undefined ? {} : { model_name: traces[0].model }),
      ...(tools.size === 0 ? {} : { tool_definitions: Array.from(tools.values(), wireTool) }),
    },
    steps: steps.list,
    final_metrics: {
      total_prompt_tokens: sum(traces.map((t) => t.usage?.promptTokens ?? t.promptIds.length)),
      total_completion_tokens: sum(
        traces.map((t) => t.usage?.completionTokens ?? t.responseIds.length),
      ),
      total_steps: steps.list.length,
      extra: { reward: trajectory.reward ?? episode.reward, signals: trajectory.signals },
    },
    extra: {
      task: { id: episode.task.id, instruction: episode.task.instruction },
      termination_reason: episode.terminationReason,
      is_correct: episode.isCorrect,
    },
  };
}

/** A document for each trajectory with calls. */
export const atifDocuments = (episode: Episode, version: string): object[] =>
  episode.trajectories
    .filter(({ steps }) => steps.length > 0)
    .map((trajectory) => trajectoryDocument(episode, trajectory, version));
