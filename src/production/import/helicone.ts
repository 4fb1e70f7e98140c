/** Helicone: requests as `npx @helicone/export --include-body` writes them, or `POST /v1/request/query` returns them. */
import type { JsonFields } from "../../util/json-object.ts";
import { defined } from "../../util/defined.ts";
import { numberOf } from "../messages/fields.ts";
import { maxTokensIn, modelCall, tokensIn } from "../messages/model-call.ts";
import { parsed, readMessages } from "../messages/read-messages.ts";
import { readResponse } from "../messages/read-response.ts";
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

function spanOf(row: JsonFields): Span {
  const request = objectOf(parsed(row["request_body"]));
  const response = objectOf(parsed(row["response_body"]));
  const properties = { ...objectOf(row["properties"]), ...objectOf(row["request_properties"]) };
  const usage = objectOf(response["usage"]);
  const id = requiredText("request_id", row["request_id"], row["id"]);
  const session = firstText(properties["Helicone-Session-Id"]);
  const status = numberOf(row["response_status"]) ?? 200;
  const isFailed = status >= 400 || status < 0;
  const started = timeOf(row["request_created_at"], row["created_at"]);
  const isBare = Object.keys(response).length === 0;
  return {
    // Requests of one session are calls of one agent; one without is alone.
    traceId: session ?? id,
    id,
    parentId: null,
    name: firstText(properties["Helicone-Session-Path"], row["request_path"]) ?? "request",
    kind: "model",
    startMs: started,
    endMs: timeOf(row["response_created_at"], started),
    ...(isFailed ? { error: `status ${status}` } : {}),
    ...defined({
      conversationId: session,
      user: firstText(row["request_user_id"], row["user_id"]),
    }),
    model: modelCall({
      model: firstText(row["request_model"], row["model"], request["model"]),
      messages: readMessages(request),
      response: isFailed || isBare ? null : readResponse(response, "body"),
      tools: request["tools"] ?? request["toolConfig"],
      ended: [],
      maxTokens: maxTokensIn(request),
      ...tokensIn(numberOf(row["completion_tokens"]) === undefined ? usage : row),
      responseId: response["id"],
    }),
    source: "helicone",
  };
}

/** Its rating is of the one request: by the response's id, since its trace may have others. */
function feedbackOf(row: JsonFields, { traceId, model }: Span): readonly FeedbackInput[] {
  const rating = scoreIn(row["feedback_rating"]);
  if (rating === undefined) return [];
  const responseId = model?.responseId;
  const at = timeOf(row["feedback_created_at"], row["request_created_at"]);
  return [{ ...(responseId === undefined ? { traceId } : { responseId }), score: rating, at }];
}

export const readHelicone: RowReader = (row) => {
  const span = spanOf(row);
  return { spans: [span], feedback: feedbackOf(row, span) };
};
