/**
 * Langfuse: traces with their observations (`GET /api/public/traces/ID`), or observations alone (`GET
 * /api/public/observations`, exports to files), and scores. https://api.reference.langfuse.com
 */
import { listOf, type JsonFields } from "../../util/json-object.ts";
import { defined } from "../../util/defined.ts";
import { numberOf } from "../conventions/recorded.ts";
import { readMessages, readResponse, parsed } from "../messages/read-messages.ts";
import { asText } from "../messages/read-parts.ts";
import { readTools } from "../messages/read-tools.ts";
import type { FeedbackInput } from "../store/feedback.ts";
import type { Span } from "../store/span.ts";
import {
  firstText,
  objectOf,
  requiredText,
  type RowReader,
  scoreIn,
  timeOf,
} from "./export-row.ts";

const kinds: Readonly<Record<string, Span["kind"]>> = {
  GENERATION: "model",
  TOOL: "tool",
  AGENT: "agent",
};

function spanOf(given: JsonFields, trace: JsonFields): Span {
  const { input, output, usageDetails, usage, modelParameters } = given;
  const kind = kinds[String(given["type"]).toUpperCase()] ?? "other";
  const name = firstText(given["name"]) ?? "";
  const tokens = { ...objectOf(usage), ...objectOf(usageDetails) };
  const isFailed = given["level"] === "ERROR";
  const body = objectOf(parsed(input));
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
    ...(kind === "model"
      ? {
          model: {
            model:
              firstText(given["model"], given["providedModelName"], given["provided_model_name"]) ??
              "",
            messages: readMessages(input),
            tools: readTools(body["tools"] ?? objectOf(modelParameters)["tools"]),
            response: isFailed ? null : readResponse(output),
            ...defined({
              promptTokens: numberOf(tokens["input"]),
              completionTokens: numberOf(tokens["output"]),
              responseId: firstText(objectOf(parsed(output))["id"]),
            }),
          },
        }
      : {}),
    ...(kind === "tool"
      ? { tool: { name, arguments: asText(input), result: asText(output) } }
      : {}),
    source: "langfuse",
  };
}

/** One score: of a trace, or of an observation in it. What has another scale says nothing here. */
function feedbackOf(score: JsonFields): readonly FeedbackInput[] {
  const { value, dataType, comment } = score;
  const number = scoreIn(value) ?? (dataType === "BOOLEAN" ? scoreIn(value === "True") : undefined);
  const name = firstText(score["name"]);
  const about = defined({
    traceId: firstText(score["traceId"], score["trace_id"]),
    conversationId: firstText(score["sessionId"]),
    user: firstText(score["authorUserId"]),
    comment: firstText(comment),
  });
  const at = timeOf(score["timestamp"], score["createdAt"]);
  if (number !== undefined) return [{ ...about, score: number, at }];
  if (name === undefined || value === undefined || value === null) return [];
  return [{ ...about, outcome: { [name]: value as string | number }, at }];
}

export const readLangfuse: RowReader = (row) => {
  if (Array.isArray(row["data"])) {
    const rows = listOf(row["data"]).map((one) => readLangfuse(one, ""));
    return {
      spans: rows.flatMap(({ spans }) => spans),
      feedback: rows.flatMap(({ feedback }) => feedback),
    };
  }
  if (row["observations"] !== undefined) {
    return {
      spans: listOf(row["observations"]).map((one) => spanOf(one, row)),
      feedback: listOf(row["scores"]).flatMap((one) => feedbackOf({ traceId: row["id"], ...one })),
    };
  }
  const isScore = row["dataType"] !== undefined && row["value"] !== undefined;
  if (isScore) return { spans: [], feedback: feedbackOf(row) };
  return { spans: [spanOf(row, {})], feedback: [] };
};
