/**
 * Langfuse: traces with their observations (`GET /api/public/traces/ID`), or observations alone (`GET
 * /api/public/observations`, exports to files), and scores. https://api.reference.langfuse.com
 */
import { listOf, type JsonFields } from "../../util/json-object.ts";
import { defined } from "../../util/defined.ts";
import { reasonsNear } from "../messages/endings.ts";
import { maxTokensIn, modelCall, tokensIn } from "../messages/model-call.ts";
import { readMessages, parsed } from "../messages/read-messages.ts";
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

const kinds: Readonly<Record<string, Span["kind"]>> = {
  GENERATION: "model",
  TOOL: "tool",
  AGENT: "agent",
};

function callOf(given: JsonFields, isFailed: boolean): ModelCall {
  const { input, output, usageDetails, usage, modelParameters } = given;
  const tokens = { ...objectOf(usage), ...objectOf(usageDetails) };
  const [body, parameters] = [objectOf(parsed(input)), objectOf(parsed(modelParameters))];
  return modelCall({
    model: firstText(given["model"], given["providedModelName"], given["provided_model_name"]),
    messages: readMessages(input),
    response: isFailed ? null : readResponse(output),
    tools: body["tools"] ?? body["toolConfig"] ?? parameters["tools"],
    ended: reasonsNear(parsed(given["metadata"])),
    maxTokens: maxTokensIn(parameters, body),
    ...tokensIn(tokens),
    responseId: objectOf(parsed(output))["id"],
  });
}

function spanOf(given: JsonFields, trace: JsonFields): Span {
  const { input, output } = given;
  const kind = kinds[String(given["type"]).toUpperCase()] ?? "other";
  const name = firstText(given["name"]) ?? "";
  const isFailed = given["level"] === "ERROR";
  return {
    traceId: requiredText("traceId", given["traceId"], given["trace_id"], trace["id"]),
    id: requiredText("id", given["id"]),
    parentId: firstText(given["parentObservationId"], given["parent_observation_id"]) ?? null,
    name,
    kind,
    startMs: timeOf(given["startTime"], given["start_time"]),
    endMs: timeOf(given["endTime"], given["end_time"], given["startTime"], given["start_time"]),
    ...(isFailed
      ? { error: firstText(given["statusMessage"], given["status_message"]) ?? "failed" }
      : {}),
    ...defined({
      conversationId: firstText(given["sessionId"], given["session_id"], trace["sessionId"]),
      user: firstText(given["userId"], given["user_id"], trace["userId"]),
    }),
    ...(kind === "model" ? { model: callOf(given, isFailed) } : {}),
    ...(kind === "tool"
      ? { tool: { name, arguments: asText(input), result: asText(output) } }
      : {}),
    source: "langfuse",
  };
}

/** One score, by its name: of a trace, of an observation in it, or of a session. */
function feedbackOf(score: JsonFields, rating: string | undefined): readonly FeedbackInput[] {
  const { value, dataType, stringValue } = score;
  const about = defined({
    traceId: firstText(score["traceId"], score["trace_id"]),
    conversationId: firstText(score["sessionId"]),
    user: firstText(score["authorUserId"]),
    comment: firstText(score["comment"]),
  });
  const said =
    dataType === "CATEGORICAL"
      ? (firstText(stringValue) ?? value)
      : dataType === "BOOLEAN"
        ? value === 1 || value === true || value === "True"
        : value;
  const at = timeOf(score["timestamp"], score["createdAt"]);
  return namedScore(score["name"], said, rating).map((one) => ({ ...about, ...one, at }));
}

export const readLangfuse: RowReader = (row, rating) => {
  if (Array.isArray(row["data"])) {
    const rows = listOf(row["data"]).map((one) => readLangfuse(one, rating));
    return {
      spans: rows.flatMap(({ spans }) => spans),
      feedback: rows.flatMap(({ feedback }) => feedback),
    };
  }
  if (row["observations"] !== undefined) {
    return {
      spans: listOf(row["observations"]).map((one) => spanOf(one, row)),
      feedback: listOf(row["scores"]).flatMap((one) =>
        feedbackOf({ traceId: row["id"], ...one }, rating),
      ),
    };
  }
  const isScore = row["dataType"] !== undefined && row["value"] !== undefined;
  if (isScore) return { spans: [], feedback: feedbackOf(row, rating) };
  return { spans: [spanOf(row, {})], feedback: [] };
};
