/**
 * The spans of one rollout: the agent, its model calls, and the tools that it called between them, with
 * the attributes of OpenTelemetry's GenAI conventions.
 * https://opentelemetry.io/docs/specs/semconv/gen-ai/
 */
import type * as api from "@opentelemetry/api";
import type { Attributes, Context, Span, Tracer } from "@opentelemetry/api";
import type { Trace } from "../../core/trace.ts";
import type { Episode, Trajectory } from "../../core/trajectory.ts";

/** What of `@opentelemetry/api` is used, loaded when a run is tracked. */
export type OpenTelemetryApi = Pick<
  typeof api,
  "context" | "trace" | "SpanKind" | "SpanStatusCode"
>;

export interface SpanContext {
  readonly api: OpenTelemetryApi;
  readonly tracer: Tracer;
  /** The span that these belong to. */
  readonly parent: Context;
  /** Whether spans hold what was said, which may be private. */
  readonly content: boolean;
}

/** Attributes of a model call. */
function callAttributes(call: Trace, content: boolean): Attributes {
  const { temperature, topP, maxTokens } = call.sampling;
  const attributes: Attributes = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "agent-trainer",
    "gen_ai.request.model": call.model,
    "gen_ai.response.id": call.responseId,
    "gen_ai.response.finish_reasons": [call.stopReason],
    "gen_ai.usage.input_tokens": call.usage?.promptTokens ?? call.promptIds.length,
    "gen_ai.usage.output_tokens": call.usage?.completionTokens ?? call.responseIds.length,
    "gen_ai.conversation.id": call.sessionUid,
    "agent_trainer.trace.id": call.id,
    "agent_trainer.protocol": call.protocol,
  };
  if (temperature !== undefined) attributes["gen_ai.request.temperature"] = temperature;
  if (topP !== undefined) attributes["gen_ai.request.top_p"] = topP;
  if (maxTokens !== undefined) attributes["gen_ai.request.max_tokens"] = maxTokens;
  if (call.weightVersion !== null) attributes["agent_trainer.weight_version"] = call.weightVersion;
  if (call.untrainable !== undefined) attributes["agent_trainer.untrainable"] = call.untrainable;
  if (content) {
    attributes["gen_ai.input.messages"] = JSON.stringify(call.messages);
    attributes["gen_ai.output.messages"] = JSON.stringify([call.response]);
  }
  return attributes;
}

/** Tools called by one response: from its end until the next call starts. */
function toolSpans({ tracer, content }: SpanContext, call: Trace, until: number, parent: Context) {
  for (const { id, name, arguments: given } of call.response.toolCalls ?? []) {
    const attributes: Attributes = {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": name,
      "gen_ai.tool.call.id": id,
    };
    if (content) attributes["gen_ai.tool.call.arguments"] = given;
    const startTime = call.finishedAt;
    tracer
      .startSpan(`execute_tool ${name}`, { startTime, attributes }, parent)
      .end(Math.max(startTime, until));
  }
}

function trajectorySpans(
  context: SpanContext,
  { steps }: Trajectory,
  parent: Context,
  end: number,
) {
  const { api, tracer, content } = context;
  for (const [index, { trace: call }] of steps.entries()) {
    const span = tracer.startSpan(
      `chat ${call.model}`,
      {
        kind: api.SpanKind.CLIENT,
        startTime: call.startedAt,
        attributes: callAttributes(call, content),
      },
      parent,
    );
    if (call.firstTokenAt !== undefined) span.addEvent("first_token", {}, call.firstTokenAt);
    span.end(call.finishedAt);
    toolSpans(context, call, steps[index + 1]?.trace.startedAt ?? end, parent);
  }
}

/** Attributes of a rollout. */
function episodeAttributes(episode: Episode): Attributes {
  return {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.name": episode.trajectories.map(({ name }) => name).join(" "),
    "agent_trainer.episode.id": episode.id,
    "agent_trainer.task.id": episode.task.id,
    "agent_trainer.attempts": episode.attempts,
    "agent_trainer.termination_reason": episode.terminationReason,
    ...(episode.reward === null ? {} : { "agent_trainer.reward": episode.reward }),
  };
}

/** A span per rollout, and below it one per model call and tool call. */
export function rolloutSpans(context: SpanContext, episode: Episode, end: number): void {
  const { api, tracer, parent } = context;
  const calls = episode.trajectories.flatMap(({ steps }) => steps.map(({ trace }) => trace));
  const startTime = Math.min(end, ...calls.map(({ startedAt }) => startedAt));
  const names = episode.trajectories.map(({ name }) => name).join(" ");
  const span: Span = tracer.startSpan(
    `invoke_agent ${names}`.trim(),
    {
      startTime,
      attributes: episodeAttributes(episode),
    },
    parent,
  );
  if (episode.error !== undefined) {
    span.setStatus({ code: api.SpanStatusCode.ERROR, message: episode.error.message });
    span.setAttribute("error.type", episode.error.code ?? episode.error.name);
  }
  const inside = api.trace.setSpan(parent, span);
  for (const trajectory of episode.trajectories) {
    trajectorySpans(context, trajectory, inside, end);
  }
  span.end(end);
}
