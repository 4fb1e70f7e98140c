/**
 * Conversations in OpenAI's chat format, a line each: `{"messages": [...], "tools": [...]}`; or logs of requests with
 * their responses, `{"request": {...}, "response": {...}}`. Where a row has `user`, `conversation_id`, `created` or
 * `label`, as in TRL's unpaired preferences, they are kept.
 */
import { createHash } from "node:crypto";
import type { JsonFields } from "../../util/json-object.ts";
import { defined } from "../../util/defined.ts";
import { readMessages, readResponse } from "../messages/read-messages.ts";
import { readTools } from "../messages/read-tools.ts";
import { firstText, objectOf, type RowReader, scoreIn, timeOf } from "./export-row.ts";

/** The same line has the same ids, so that a second import adds nothing. */
function idOf(row: JsonFields): string {
  return createHash("sha256").update(JSON.stringify(row)).digest("hex").slice(0, 32);
}

export const readOpenAiChat: RowReader = (row) => {
  const request = row["request"] === undefined ? row : objectOf(row["request"]);
  const logged = row["response"] === undefined ? null : readResponse(row["response"]);
  const all = readMessages(request["messages"] ?? request["input"]);
  if (all.length === 0) throw new Error("it has no messages");
  const response = logged ?? all.at(-1)!;
  if (response.role !== "assistant") throw new Error("its last message is not of an assistant");
  const traceId = firstText(row["trace_id"], row["id"]) ?? idOf(row);
  const seconds = row["created"] ?? objectOf(row["response"])["created"];
  const at =
    typeof seconds === "number" ? seconds * 1000 : timeOf(row["created_at"], row["timestamp"]);
  const score = scoreIn(row["label"]) ?? scoreIn(row["score"]);
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
        model: {
          model: firstText(request["model"], row["model"]) ?? "",
          messages: logged === null ? all.slice(0, -1) : all,
          tools: readTools(request["tools"]),
          response,
          ...defined({ responseId: firstText(objectOf(row["response"])["id"]) }),
        },
        source: "openai",
      },
    ],
    feedback: score === undefined ? [] : [{ traceId, score, at }],
  };
};
