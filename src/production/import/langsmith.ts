/** LangSmith: runs and feedback as its client lists them (`listRuns`, `listFeedback`), or a bulk export has them. */
import { isJsonObject, type JsonFields } from "../../util/json-object.ts";
import { defined } from "../../util/defined.ts";
import { reasonsNear } from "../messages/endings.ts";
import { maxTokensIn, modelCall, tokensIn } from "../messages/model-call.ts";
import { parsed, readMessages } from "../messages/read-messages.ts";
import { asText } from "../messages/read-parts.ts";
import { readResponse, type ReadResponse } from "../messages/read-response.ts";
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

/** LangChain has `generations`, a list per prompt; wrappers of clients have what the service returned. */
function responseOf(outputs: JsonFields): ReadResponse | null {
  const names = Object.keys(outputs);
  if (names.length === 0) return null;
  // What a traced function returned.
  return names.length === 1 && names[0] === "output"
    ? readResponse(outputs["output"])
    : readResponse(outputs, "body");
}

function callOf(run: JsonFields, isFailed: boolean): ModelCall {
  const inputs = objectOf(parsed(run["inputs"]));
  const outputs = objectOf(parsed(run["outputs"]));
  const extra = objectOf(parsed(run["extra"]));
  const invocation = objectOf(extra["invocation_params"]);
  const metadata = objectOf(extra["metadata"]);
  return modelCall({
    model: firstText(metadata["ls_model_name"], invocation["model"], inputs["model"]),
    messages: readMessages(inputs["prompts"] ?? inputs),
    response: isFailed ? null : responseOf(outputs),
    tools: invocation["tools"] ?? inputs["tools"],
    ended: reasonsNear(metadata),
    maxTokens: maxTokensIn(invocation, inputs, { max_tokens: metadata["ls_max_tokens"] }),
    ...tokensIn(run),
    responseId: outputs["id"],
  });
}

const kinds: Readonly<Record<string, Span["kind"]>> = { llm: "model", tool: "tool" };

function spanOf(run: JsonFields): Span {
  const kind = kinds[String(run["run_type"])] ?? "other";
  const name = firstText(run["name"]) ?? "";
  const error = firstText(run["error"]);
  const metadata = objectOf(objectOf(parsed(run["extra"]))["metadata"]);
  return {
    traceId: requiredText("trace_id", run["trace_id"], run["id"]),
    id: requiredText("id", run["id"]),
    parentId: firstText(run["parent_run_id"]) ?? null,
    name,
    kind,
    startMs: timeOf(run["start_time"]),
    endMs: timeOf(run["end_time"], run["start_time"]),
    ...defined({
      error,
      conversationId: firstText(
        metadata["session_id"],
        metadata["thread_id"],
        metadata["conversation_id"],
      ),
      user: firstText(metadata["user_id"]),
    }),
    ...(kind === "model" ? { model: callOf(run, error !== undefined) } : {}),
    ...(kind === "tool" ? { tool: toolOf(name, run) } : {}),
    source: "langsmith",
  };
}

function toolOf(name: string, run: JsonFields): NonNullable<Span["tool"]> {
  const inputs = parsed(run["inputs"]);
  const outputs = parsed(run["outputs"]);
  // LangChain's tools have one text each way.
  const given =
    isJsonObject(inputs) && typeof inputs["input"] === "string" ? inputs["input"] : inputs;
  const output = isJsonObject(outputs) ? (outputs["output"] ?? outputs) : outputs;
  const content = isJsonObject(output)
    ? (objectOf(output["kwargs"])["content"] ?? output["content"])
    : undefined;
  return { name, arguments: asText(given), result: asText(content ?? output) };
}

function feedbackOf(given: JsonFields, rating: string | undefined): readonly FeedbackInput[] {
  const { score, correction, value, key } = given;
  const text = isJsonObject(correction)
    ? firstText(correction["desired"], correction["output"])
    : firstText(correction);
  const feedback = {
    ...defined({ correction: text, comment: firstText(given["comment"]) }),
    ...namedScore(key, score ?? value, rating)[0],
  };
  if (Object.keys(feedback).length === 0) return [];
  // A run's id is that of its trace where it is the first.
  const traceId = requiredText("run_id", given["trace_id"], given["run_id"]);
  return [{ traceId, ...feedback, at: timeOf(given["created_at"]) }];
}

export const readLangSmith: RowReader = (row, rating) =>
  row["run_type"] === undefined && (row["run_id"] !== undefined || row["key"] !== undefined)
    ? { spans: [], feedback: feedbackOf(row, rating) }
    : { spans: [spanOf(row)], feedback: [] };
