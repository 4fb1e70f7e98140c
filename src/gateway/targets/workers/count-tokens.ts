/** How long a prompt would be, according to the server that would render it. */
import type { ChatMessage, ToolDefinition } from "../../../core/message.ts";
import { wireTool } from "../../../core/tool-json.ts";
import { ApiError } from "../../http/api-error.ts";
import { toWireMessage } from "../../http/wire.ts";
import type { Dispatcher } from "./pool/dispatcher.ts";
import type { WorkerPool } from "./pool/worker-pool.ts";
import { readJsonResponses } from "./http/json-responses.ts";
import { malformed } from "./upstream-error.ts";
import { idsIn, numberIn, objectIn, textIn } from "./adapters/wire-values.ts";
import type { Worker, WorkerFacts } from "./pool/worker.ts";

interface Prompt {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[];
}

async function post(worker: Worker, path: string, body: object, signal: AbortSignal) {
  const response = await worker.send({ path, body, signal });
  for await (const [json] of readJsonResponses(response, worker.id, (value) => value))
    return objectIn(json);
  return {};
}

async function count(
  worker: Worker,
  { kind, model }: WorkerFacts,
  { messages, tools }: Prompt,
  signal: AbortSignal,
): Promise<number> {
  const wire = {
    messages: messages.map(toWireMessage),
    ...(tools.length === 0 ? {} : { tools: tools.map(wireTool) }),
  };
  if (kind === "vllm") {
    const body = { model, ...wire, add_generation_prompt: true };
    const counted = numberIn((await post(worker, "/tokenize", body, signal)).count);
    if (counted !== undefined) return counted;
    throw malformed(worker.id, "counted no tokens");
  }
  if (kind === "llamacpp") {
    const content = textIn((await post(worker, "/apply-template", wire, signal)).prompt);
    const body = { content, add_special: true, parse_special: true };
    const tokens = idsIn((await post(worker, "/tokenize", body, signal)).tokens);
    if (content !== undefined && tokens) return tokens.length;
    throw malformed(worker.id, "counted no tokens");
  }
  throw new ApiError({
    status: 501,
    message: `A worker of the kind "${kind}" does not count tokens.`,
    reason: "unsupported",
    retry: false,
  });
}

/** @throws ApiError 501 where the server has no such route. */
export function countTokens(
  workerPool: WorkerPool,
  dispatcher: Dispatcher,
  limitMs: number,
  prompt: Prompt,
): Promise<number> {
  const signal = AbortSignal.timeout(limitMs);
  const endsAt = performance.now() + limitMs;
  return workerPool.ready().then(() =>
    dispatcher.run(
      {
        affinity: "",
        signal,
        remainingMs: () => Math.max(0, endsAt - performance.now()),
        committed: () => false,
      },
      (worker, facts) => count(worker, facts, prompt, signal),
    ),
  );
}
