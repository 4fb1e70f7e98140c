/**
 * Conversations in OpenAI's chat format, a line each: `{"messages": [...], "tools": [...]}`; or logs of requests with
 * their responses, `{"request": {...}, "response": {...}}`. Where a row has `user`, `conversation_id`, `created` or
 * `label`, as in TRL's unpaired preferences, they are kept.
 */
import { createHash } from "node:crypto";
import type { JsonFields } from "../../util/json-object.ts";
import { defined } from "../../util/defined.ts";
import { reasonsIn, reasonsNear } from "../messages/endings.ts";
import { maxTokensIn, modelCall, type RecordedCall, tokensIn } from "../messages/model-call.ts";
import { readMessages } from "../messages/read-messages.ts";
import { readResponse } from "../messages/read-response.ts";
import { firstText, namedScore, objectOf, type RowReader, scoreIn, timeOf } from "./export-row.ts";

/** The same line has the same ids, so that a second import adds nothing. */
function idOf(row: JsonFields): string {
  return createHash("sha256").update(JSON.stringify(row)).digest("hex").slice(0, 32);
}

/** A conversation that ends in the response, or a request with its response. */
function recorded(row: JsonFields): Pick<RecordedCall, "messages" | "response" | "ended"> {
  if (row["response"] !== undefined) {
    const messages = readMessages(objectOf(row["request"] ?? row));
    return { messages, response: readResponse(row["response"], "body"), ended: [] };
  }
  const { messages, damage } = readMessages(row["request"] ?? row);
  const response = messages.at(-1);
  if (response !== undefined && response.role !== "assistant")
    throw new Error("its last message is not of an assistant");
  const reasons = reasonsIn(row["messages"] ?? row["input"]);
  return {
    messages: { messages: messages.slice(0, -1), damage },
    response: { response: response ?? null, damage, reasons: reasons.slice(-1) },
    ended: reasonsNear(row),
  };
}

export const readOpenAiChat: RowReader = (row, rating) => {
  const request = row["request"] === undefined ? row : objectOf(row["request"]);
  const response = objectOf(row["response"]);
  const said = recorded(row);
  if (said.messages.messages.length === 0) throw new Error("it has no messages");
  const traceId = firstText(row["trace_id"], row["id"]) ?? idOf(row);
  const seconds = row["created"] ?? response["created"];
  const at =
    typeof seconds === "number" ? seconds * 1000 : timeOf(row["created_at"], row["timestamp"]);
  const label = scoreIn(row["label"]);
  const feedback = [
    ...(label === undefined ? [] : [{ score: label }]),
    ...namedScore("score", row["score"], rating),
  ];
  return {
    spans: [
      {
        traceId,
        id: traceId,
        parentId: null,
        name: "chat",
        kind: "model",
        startMs: at,
        endMs: at,
        ...defined({
          conversationId: firstText(row["conversation_id"], row["session_id"]),
          user: firstText(row["user"], request["user"], row["user_id"]),
        }),
        model: modelCall({
          ...said,
          model: firstText(request["model"], row["model"]),
          tools: request["tools"],
          maxTokens: maxTokensIn(request),
          ...tokensIn(objectOf(response["usage"])),
          responseId: response["id"],
        }),
        source: "openai",
      },
    ],
    feedback: feedback.map((one) => ({ traceId, ...one, at })),
  };
};
