/**
 * Entry point of the worker thread: it holds the engine, so that the thread that serves HTTP never
 * waits for a matrix product.
 */
import { parentPort } from "node:worker_threads";
import type { UpdateMetrics } from "../../core/backend.ts";
import { AgentTrainerError } from "../../core/errors.ts";
import { fileError } from "../../core/file-error.ts";
import { refuseBeyond } from "../../core/loss/update-limits.ts";
import { choosePrecision } from "../../engine/decoder/choose-precision.ts";
import { loadPolicy } from "../../engine/decoder/policy.ts";
import { PolicyEngine } from "../../engine/policy-engine.ts";
import { quantizationDistance } from "../../engine/quantization-distance.ts";
import { Device } from "../../engine/tensor/device.ts";
import { defined } from "../../util/defined.ts";
import { deriveSeed } from "../../util/random.ts";
import { readVocabulary } from "../../models/tokenizers/vocabulary-bytes.ts";
import { loadTokenizerFiles, modelAssets } from "./load-model.ts";
import { rowsOfMessage } from "./row-message.ts";
import type {
  CallName,
  FromWorker,
  RowsInput,
  ToWorker,
  WireError,
  WorkerCalls,
} from "./protocol.ts";

const port = parentPort;
if (port === null) throw new Error("worker.ts runs in a worker thread only.");
const send = (message: FromWorker): void => {
  port.postMessage(message);
};

let engine: PolicyEngine | undefined;
let modelPath = "";
let hasVocabulary: Promise<void> | undefined;
const running = new Map<number, AbortController>();

function loaded(): PolicyEngine {
  if (engine === undefined) throw new Error("The model has not been loaded.");
  return engine;
}

/** The engine, with the bytes of the model's tokens where something needs them. @throws ModelError */
async function loadedFor(requests: readonly { readonly rules?: unknown }[]): Promise<PolicyEngine> {
  const own = loaded();
  if (requests.some(({ rules }) => rules !== undefined)) {
    hasVocabulary ??= loadTokenizerFiles(modelPath).then(({ tokenizer }) => {
      const vocabulary = readVocabulary(tokenizer, own.vocabularySize);
      if (vocabulary !== null) own.vocabulary = vocabulary;
    });
    await hasVocabulary;
  }
  return own;
}

/** With the rows of a message. @throws ModelError */
async function loadedWith({ rows, schemas }: RowsInput): Promise<PolicyEngine> {
  const own = await loadedFor(rows.shapes);
  own.addSchemas(schemas);
  return own;
}

type Handlers = {
  [Name in CallName]: (
    input: Parameters<WorkerCalls[Name]>[0],
    id: number,
    signal: AbortSignal,
  ) => ReturnType<WorkerCalls[Name]> | Promise<ReturnType<WorkerCalls[Name]>>;
};

const handlers: Handlers = {
  async load({
    path,
    name,
    threads,
    lora,
    adapters,
    isFrozen,
    seed,
    quantization,
    probes,
    ...options
  }) {
    const device = new Device({ threads });
    const precision = choosePrecision(options.precision, device);
    const policy = await loadPolicy(path, {
      device,
      precision,
      lora,
      isFrozen,
      seed,
      quantization,
    });
    modelPath = path;
    const origin = { name, assets: await modelAssets(path) };
    engine = await PolicyEngine.create(policy, {
      ...options,
      modelPath: path,
      origin,
      adapters: adapters.map((own) => ({ name: own, seed: deriveSeed(seed, "adapter", own) })),
    });
    const { contextLength } = engine;
    const warnings =
      precision === "bf16" && !device.hasBfloat16
        ? [
            `local.precision is bf16, but this processor (${device.instructionSet.name}) has no instructions for it: the numbers are the same, computed more slowly than with f32.`,
          ]
        : [];
    if (probes.length === 0) return { contextLength, quantizationDistance: null, warnings };
    const { trainingMemoryMiB: memoryMiB } = options;
    const given = { path, prompts: probes, device, precision, memoryMiB };
    const distance = await quantizationDistance(engine, given);
    return { contextLength, quantizationDistance: distance, warnings };
  },
  async sample({ stream, schemas, ...request }, id, signal) {
    const policy = await loadedFor([request.params]);
    policy.addSchemas(schemas);
    return policy.sample({
      ...request,
      signal,
      ...(stream ? { onChunk: (chunk) => send({ kind: "chunk", id, chunk }) } : {}),
    });
  },
  async forward({ which, ...input }) {
    return (await loadedWith(input)).forward(rowsOfMessage(input.rows), which);
  },
  async entropies(input) {
    return (await loadedWith(input)).entropies(rowsOfMessage(input.rows));
  },
  async values(input) {
    return (await loadedWith(input)).values(rowsOfMessage(input.rows));
  },
  async update({ loss, optim, limits, ...input }) {
    const own = await loadedWith(input);
    const check = (measured: UpdateMetrics): void => refuseBeyond(limits, measured);
    const before = limits === undefined ? undefined : check;
    return own.update(rowsOfMessage(input.rows), loss, optim, before);
  },
  publish: (version) => loaded().publish(version ?? undefined),
  async save(folder) {
    await loaded().save(folder);
    return null;
  },
  async restore({ folder, version }) {
    await loaded().load(folder, version);
    return null;
  },
  totals: () => ({ ...loaded().totals }),
  async close() {
    await engine?.[Symbol.asyncDispose]();
    engine = undefined;
    return null;
  },
};

async function handle(id: number, name: CallName, input: unknown): Promise<void> {
  const controller = new AbortController();
  running.set(id, controller);
  try {
    const handler = handlers[name] as (input: unknown, id: number, signal: AbortSignal) => unknown;
    send({ kind: "result", id, output: await handler(input, id, controller.signal) });
  } catch (error) {
    send({ kind: "error", id, error: toWire(error) });
  } finally {
    running.delete(id);
  }
}

function toWire(thrown: unknown): WireError {
  const error = fileError(thrown) ?? thrown;
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  const { name, message, stack } = error;
  const facts = AgentTrainerError.isInstance(error)
    ? {
        code: error.code,
        fields: error.fields,
        ...defined({ hint: error.hint }),
      }
    : {};
  return { name, message, ...defined({ stack }), ...facts };
}

port.on("message", (message: ToWorker) => {
  if (message.kind === "cancel") running.get(message.id)?.abort();
  else void handle(message.id, message.name, message.input);
});
