/** Braintrust: events of project logs (`GET /v1/project_logs/ID/fetch`, `bt export`): one for each span. */
import { listOf, type JsonFields } from "../../util/json-object.ts";
import { defined } from "../../util/defined.ts";
import { reasonsNear } from "../messages/endings.ts";
import { maxTokensIn, modelCall, tokensIn } from "../messages/model-call.ts";
import { readMessages } from "../messages/read-messages.ts";
import { asText } from "../messages/read-parts.ts";
import { readResponse } from "../messages/read-response.ts";
import type { FeedbackInput } from "../store/feedback.ts";
import type { ModelCall, Span } from "../store/span.ts";
import {
  firstText,
  namedScore,
  objectOf,
  requiredText,
  type RowReader,
  timeOf,
} from "./export-row.ts";

const kinds: Readonly<Record<string, Span["kind"]>> = { llm: "model", tool: "tool", task: "agent" };

const secondsOf = (value: unknown): number | undefined =>
  typeof value === "number" ? value * 1000 : undefined;

function callOf({ input, output, ...event }: JsonFields, isFailed: boolean): ModelCall {
  const [metadata, metrics] = [objectOf(event["metadata"]), objectOf(event["metrics"])];
  return modelCall({
    model: metadata["model"],
    messages: readMessages(input),
    response: isFailed ? null : readResponse(output),
    tools: metadata["tools"],
    ended: reasonsNear(metadata),
    maxTokens: maxTokensIn(metadata),
    ...tokensIn(metrics),
    responseId: undefined,
  });
}

function spanOf(event: JsonFields): Span {
  const { input, output, error } = event;
  const [attributes, metadata, metrics] = ["span_attributes", "metadata", "metrics"].map((name) =>
    objectOf(event[name]),
  ) as [JsonFields, JsonFields, JsonFields];
  const kind = kinds[String(attributes["type"])] ?? "other";
  const name = firstText(attributes["name"]) ?? "";
  const parents = event["span_parents"];
  const isFailed = error !== undefined && error !== null;
  return {
    traceId: requiredText("root_span_id", event["root_span_id"], event["id"]),
    id: requiredText("span_id", event["span_id"], event["id"]),
    parentId: (Array.isArray(parents) ? firstText(...(parents as unknown[])) : undefined) ?? null,
    name,
    kind,
    startMs: timeOf(secondsOf(metrics["start"]), event["created"]),
    endMs: timeOf(secondsOf(metrics["end"]), event["created"]),
    ...(isFailed ? { error: asText(error) } : {}),
    ...defined({
      conversationId: firstText(
        metadata["session_id"],
        metadata["conversation_id"],
        metadata["thread_id"],
      ),
      user: firstText(metadata["user_id"], metadata["user"]),
    }),
    ...(kind === "model" ? { model: callOf(event, isFailed) } : {}),
    ...(kind === "tool"
      ? { tool: { name, arguments: asText(input), result: asText(output) } }
      : {}),
    source: "braintrust",
  };
}

/** Scores, by name, and corrections (`expected`); those of the span itself are about its trace. */
function feedbackOf(event: JsonFields, rating: string | undefined): readonly FeedbackInput[] {
  const traceId = requiredText("root_span_id", event["root_span_id"], event["id"]);
  const at = timeOf(event["created"]);
  const comments = listOf(event["comments"]).flatMap(
    ({ comment }) => firstText(objectOf(comment)["text"]) ?? [],
  );
  const scores = Object.entries(objectOf(event["scores"])).flatMap(([name, value]) =>
    namedScore(name, value, rating),
  );
  const correction = firstText(event["expected"]);
  return [
    ...scores.map((score) => ({ traceId, ...score, at })),
    ...comments.map((comment) => ({ traceId, comment, at })),
    ...(correction === undefined ? [] : [{ traceId, correction, at }]),
  ];
}

export const readBraintrust: RowReader = (row, rating) => {
  const events = Array.isArray(row["events"]) ? listOf(row["events"]) : [row];
  return {
    spans: events.map(spanOf),
    feedback: events.flatMap((event) => feedbackOf(event, rating)),
  };
};
