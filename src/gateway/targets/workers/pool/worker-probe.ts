/** What a server is (its kind, its model, its context), and whether it is healthy. */
import type { HttpWorker, WorkerKind } from "../../../../core/backend.ts";
import type { PhaseDeadlines } from "../http/http-request.ts";
import { readJsonResponses } from "../http/json-responses.ts";
import { UpstreamError } from "../upstream-error.ts";
import { listIn, numberIn, objectIn, textIn } from "../adapters/wire-values.ts";
import { Worker, type WorkerFacts } from "./worker.ts";

function quick(limitMs: number): PhaseDeadlines {
  return { connectMs: limitMs, firstByteMs: limitMs, betweenBytesMs: limitMs };
}

/** The response to a GET; null when the server has nothing there. @throws UpstreamError when it is down. */
async function look(worker: Worker, path: string, limitMs: number): Promise<unknown> {
  const signal = AbortSignal.timeout(limitMs);
  const response = await worker.send({ path, signal, deadlines: quick(limitMs) });
  try {
    for await (const [json] of readJsonResponses(response, worker.id, (value) => value))
      return json;
  } catch (error) {
    if (!(error instanceof UpstreamError) || error.failure === "timeout") throw error;
  }
  return null;
}

async function detectKind(worker: Worker, limitMs: number): Promise<WorkerKind> {
  const [info, props, version] = (
    await Promise.all(
      ["/get_model_info", "/props", "/version"].map((path) => look(worker, path, limitMs)),
    )
  ).map(objectIn);
  if (textIn(info?.model_path) !== undefined) return "sglang";
  if (props?.default_generation_settings !== undefined) return "llamacpp";
  if (textIn(version?.version) !== undefined) return "vllm";
  return "openai";
}

async function readContext(worker: Worker, kind: WorkerKind, limitMs: number): Promise<number> {
  if (kind !== "llamacpp") return Infinity;
  const props = objectIn(await look(worker, "/props", limitMs));
  return numberIn(objectIn(props.default_generation_settings).n_ctx) ?? Infinity;
}

/** @throws UpstreamError when the server cannot be reached. */
export async function readFacts(
  worker: Worker,
  preferredModel: string,
  limitMs: number,
): Promise<WorkerFacts> {
  const { kind: given = "auto", modelName } = worker.spec;
  const kind = given === "auto" ? await detectKind(worker, limitMs) : given;
  const listed = objectIn(await look(worker, "/v1/models", limitMs));
  const models = listIn(listed.data).map(objectIn);
  const named = (name: string | undefined): boolean => models.some(({ id }) => id === name);
  const model =
    modelName ??
    (named(preferredModel) ? preferredModel : (textIn(models[0]?.id) ?? preferredModel));
  const own = models.find(({ id }) => id === model) ?? {};
  const contextLength = numberIn(own.max_model_len) ?? (await readContext(worker, kind, limitMs));
  return { kind, model, contextLength };
}

/**
 * What an inference server is, without a gateway around it: its kind, its model (the first that it lists,
 * unless `spec.modelName` names another) and the longest prompt + completion in tokens, Infinity where it
 * does not say.
 * @throws ConfigError for a bad URL, UpstreamError when it does not respond within `limitMs`.
 */
export async function probeWorker(spec: HttpWorker, limitMs = 5_000): Promise<WorkerFacts> {
  const worker = new Worker(spec.id ?? spec.url, spec, {
    deadlines: quick(limitMs),
    maxResponseBytes: 16_777_216,
  });
  try {
    return await readFacts(worker, "", limitMs);
  } finally {
    worker.close();
  }
}

/** Whether the server says that it is healthy. Never rejects. */
export async function checkHealth(worker: Worker, limitMs: number): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(limitMs);
    const kind = worker.facts?.kind ?? worker.spec.kind;
    // Other servers need not have a route of this name.
    const path = kind === "openai" ? "/v1/models" : "/health";
    const response = await worker.send({ path, signal, deadlines: quick(limitMs) });
    await response.body.return();
    // One that is loading or broken says 5xx; one without the route, or that asks for a key, is up.
    if (response.status < 500) return true;
    worker.problem = `It responded to a health check with ${response.status}.`;
    return false;
  } catch (error) {
    worker.problem = error instanceof Error ? error.message : String(error);
    return false;
  }
}
