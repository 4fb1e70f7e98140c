/** What samples behind `agent-trainer gateway`: inference servers, or a model in this process. */
import { defined } from "../../util/defined.ts";
import type {
  HttpWorker,
  InferenceTarget,
  TrainingBackend,
  WorkerKind,
} from "../../core/backend.ts";
import { ConfigError } from "../../core/errors.ts";
import { probeWorker } from "../../gateway/targets/workers/pool/worker-probe.ts";
import { redact } from "../../util/redact.ts";
import { loadModelRenderer } from "../../backends/local/load-model.ts";
import { shortModelName } from "../../util/model-name.ts";
import { missingPackage } from "../../launch/missing-package.ts";
import { workerKeyVariable } from "./evaluated-model.ts";

export interface SourceFlags {
  readonly worker?: readonly string[] | undefined;
  readonly kind?: WorkerKind | "auto" | undefined;
  /** Folder or `.gguf` file with the tokenizer and chat template of the workers' model. */
  readonly tokenizer?: string | undefined;
  readonly builtin?: string | undefined;
  readonly model?: string | undefined;
}

export interface Source extends AsyncDisposable {
  readonly target: InferenceTarget;
  readonly model: string;
  /** What each worker reported, one line per worker. */
  readonly notes: readonly string[];
}

async function startBuiltin(
  name: string,
  signal: AbortSignal,
  onWarning?: (message: string) => void,
): Promise<Source> {
  let backend: TrainingBackend;
  try {
    const { createLocalBackend } = await import("../../backends/local/index.ts");
    backend = createLocalBackend(defined({ onWarning }));
  } catch (error) {
    throw missingPackage(error) ?? error;
  }
  const close = (): PromiseLike<void> => backend[Symbol.asyncDispose]();
  try {
    const target = await backend.start({ seed: 0, model: { name, lora: null }, signal });
    return { target, model: shortModelName(name), notes: [], [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Describes a worker in one line, with its model if it reports one. Rejects only for an invalid URL. */
async function describe(worker: HttpWorker): Promise<{ line: string; model?: string }> {
  try {
    const { kind, model, contextLength } = await probeWorker(worker);
    const length = Number.isFinite(contextLength) ? `, context ${contextLength}` : "";
    const name = model === "" ? "no model listed" : model;
    return { line: `${redact(worker.url)}: ${kind}, ${name}${length}`, ...(model && { model }) };
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    return { line: `${redact(worker.url)}: not reachable yet, will be retried. ${why}` };
  }
}

async function startWorkers(urls: readonly string[], flags: SourceFlags): Promise<Source> {
  const { kind = "auto", tokenizer } = flags;
  const apiKey = process.env[workerKeyVariable] ?? "";
  const workers = urls.map((url): HttpWorker => ({
    url,
    kind,
    ...(apiKey === "" ? {} : { apiKey }),
  }));
  const [renderer, found] = await Promise.all([
    tokenizer === undefined ? undefined : loadModelRenderer(tokenizer),
    Promise.all(workers.map(describe)),
  ]);
  const model = flags.model ?? found.find((each) => each.model !== undefined)?.model;
  if (model === undefined) {
    throw new ConfigError({
      message: `No worker reported its model. ${found[0]?.line ?? ""}`,
      hint: "Start the server first, or name the model with --model.",
      fields: { option: "model" },
    });
  }
  return {
    target: { kind: "http", workers, ...(renderer ? { renderer } : {}) },
    model,
    notes: found.map(({ line }) => line),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** @throws ConfigError when there is no worker or model, or whatever loading a model throws. */
export function startSource(
  flags: SourceFlags,
  signal: AbortSignal,
  onWarning?: (message: string) => void,
): Promise<Source> {
  const { worker = [], builtin, tokenizer } = flags;
  if (worker.length > 0 && builtin !== undefined) {
    throw new ConfigError({
      message:
        "--worker and --builtin cannot be combined: calls go either to workers or to the embedded engine.",
      hint: "Remove one of them.",
    });
  }
  if (worker.length > 0) return startWorkers(worker, flags);
  if (tokenizer !== undefined || flags.kind !== undefined) {
    throw new ConfigError({
      message: `--${tokenizer === undefined ? "kind" : "tokenizer"} applies only to workers, but there is no --worker.`,
      hint: `Add --worker http://host:8000/v1, or remove --${tokenizer === undefined ? "kind" : "tokenizer"}.`,
    });
  }
  if (builtin !== undefined) return startBuiltin(builtin, signal, onWarning);
  throw new ConfigError({
    message: "The gateway has no model to call: neither --worker nor --builtin was given.",
    hint: "Run: agent-trainer gateway --worker http://localhost:8000/v1",
  });
}
