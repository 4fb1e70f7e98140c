/** LangSmith: runs and feedback as its client lists them (`listRuns`, `listFeedback`), or a bulk export has them. */
import { isJsonObject, type JsonFields } from "../../util/json-object.ts";
import { defined } from "../../util/defined.ts";
import { numberOf } from "../conventions/recorded.ts";
import { parsed, readMessages, readResponse } from "../messages/read-messages.ts";
import { asText } from "../messages/read-parts.ts";
import { readTools } from "../messages/read-tools.ts";
import type { FeedbackInput } from "../store/feedback.ts";
import type { ModelCall, Span } from "../store/span.ts";
import {
  firstText,
  objectOf,
  requiredText,
  type RowReader,
  scoreIn,
  timeOf,
} from "./export-row.ts";

/** LangChain has `generations`, a list per prompt; wrappers of clients have what the service returned. */
function responseOf(outputs: JsonFields): ModelCall["response"] {
  const { generations, messages } = outputs;
  if (!Array.isArray(generations))
    return readResponse(Array.isArray(messages) ? messages.at(-1) : outputs);
  const first: unknown = (generations as unknown[]).flat()[0];
  if (!isJsonObject(first)) return null;
  return readResponse(first["message"] ?? first["text"]);
}

function callOf(run: JsonFields, isFailed: boolean): ModelCall {
  const inputs = objectOf(parsed(run["inputs"]));
  const outputs = objectOf(parsed(run["outputs"]));
  const extra = objectOf(parsed(run["extra"]));
  const invocation = objectOf(extra["invocation_params"]);
  const metadata = objectOf(extra["metadata"]);
  return {
    model: firstText(metadata["ls_model_name"], invocation["model"], inputs["model"]) ?? "",
    messages: readMessages(inputs["messages"] ?? inputs["prompts"] ?? inputs["prompt"]),
    tools: readTools(invocation["tools"] ?? inputs["tools"]),
    response: isFailed ? null : responseOf(outputs),
    ...defined({
      promptTokens: numberOf(run["prompt_tokens"]),
      completionTokens: numberOf(run["completion_tokens"]),
      responseId: firstText(outputs["id"]),
    }),
  };
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

function feedbackOf(given: JsonFields): readonly FeedbackInput[] {
  const { score, correction, value, key } = given;
  const text = isJsonObject(correction)
    ? firstText(correction["desired"], correction["output"])
    : firstText(correction);
  const said = defined({
    score: scoreIn(score),
    correction: text,
    comment: firstText(given["comment"]),
  });
  const name = firstText(key);
  const outcome =
    said.score === undefined &&
    name !== undefined &&
    ["string", "number", "boolean"].includes(typeof (score ?? value))
      ? { outcome: { [name]: (score ?? value) as string | number } }
      : {};
  const feedback = { ...said, ...outcome };
  if (Object.keys(feedback).length === 0) return [];
  // A run's id is that of its trace where it is the first.
  const traceId = requiredText("run_id", given["trace_id"], given["run_id"]);
  return [{ traceId, ...feedback, at: timeOf(given["created_at"]) }];
}

export const readLangSmith: RowReader = (row) =>
  row["run_type"] === undefined && (row["run_id"] !== undefined || row["key"] !== undefined)
    ? { spans: [], feedback: feedbackOf(row) }
    : { spans: [spanOf(row)], feedback: [] };
