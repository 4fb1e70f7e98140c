/**
 * One model being trained. Calls may be made without awaiting the ones before: they reach the server in
 * order, under consecutive numbers, and each resolves with its own result.
 */
import { randomUUID } from "node:crypto";
import { checkData } from "../../../tinker-api/check-data.ts";
import { cutIntoChunks, joinOutputs, type ChunkLimits } from "../../../tinker-api/chunks.ts";
import { forwardBackwardToJson, outputFromJson } from "../../../tinker-api/codec/json-codec.ts";
import type { Datum, ForwardBackwardOutput } from "../../../tinker-api/messages.ts";
import { SubmissionQueue } from "../../../tinker-api/submission-queue.ts";
import { TinkerWireError } from "../../../tinker-api/tinker-error.ts";
import { defined } from "../../../util/defined.ts";
import { FireworksError, wireError } from "./fireworks-error.ts";
import type { FireworksCallOptions, Futures } from "./futures.ts";
import { isRefusal, textField } from "./http.ts";
import type { FireworksModelCapabilities } from "./model-capabilities.ts";
import { checkName, nameSuffix } from "./names.ts";

type Json = Readonly<Record<string, unknown>>;

/** What an accumulated gradient is divided by before the optimizer step. */
export type GradientNormalization = "num_loss_tokens" | "num_sequences" | "none";

/** AdamW as `optim_step` takes it. */
export interface FireworksAdamParams {
  readonly learningRate: number;
  /** @default 0.9 */
  readonly beta1?: number;
  /** @default 0.95 */
  readonly beta2?: number;
  /** @default 1e-12 */
  readonly eps?: number;
  /** Decoupled. @default 0 */
  readonly weightDecay?: number;
  /** Gradients are scaled down to this global norm; 0 = never. @default 0 */
  readonly gradClipNorm?: number;
}

/** Options of one optimizer step. */
export interface FireworksStepOptions extends FireworksCallOptions {
  /** @default the server's, which is not documented */
  readonly normalization?: GradientNormalization;
}

export interface TrainingClientParts {
  readonly futures: Futures;
  readonly modelId: string;
  readonly capabilities: FireworksModelCapabilities;
  readonly limits?: ChunkLimits;
}

/** At most 1,024 datums and 5,000,000 bytes, with room for what surrounds the datums. */
const defaultLimits: ChunkLimits = { datums: 1024, bytes: 4_990_000 };

/** Trains one model on Fireworks: gradients, optimizer steps, checkpoints, snapshots. */
export class FireworksTrainingClient {
  /** `run-<32 hex>:train:<n>` */
  readonly modelId: string;
  /** As the answer to `create_model` says. */
  readonly capabilities: FireworksModelCapabilities;
  readonly #futures: Futures;
  readonly #queue: SubmissionQueue;
  readonly #limits: ChunkLimits;
  #isUnloaded = false;

  /** @internal Use `createModel` of {@link FireworksClient}. */
  constructor({ futures, modelId, capabilities, limits = defaultLimits }: TrainingClientParts) {
    this.modelId = modelId;
    this.capabilities = capabilities;
    this.#futures = futures;
    this.#limits = limits;
    this.#queue = new SubmissionQueue(modelId, (cause) => lost(modelId, cause));
  }

  /** Adds the gradient of the summed loss to what the next `optimStep` applies. */
  forwardBackward(
    data: readonly Datum[],
    lossFn: string,
    lossConfig: Readonly<Record<string, number>> = {},
    options: FireworksCallOptions = {},
  ): Promise<ForwardBackwardOutput> {
    return this.#forward(data, { lossFn, lossConfig, forwardOnly: false }, options);
  }

  /** The same without gradients. */
  forward(
    data: readonly Datum[],
    lossFn: string,
    lossConfig: Readonly<Record<string, number>> = {},
    options: FireworksCallOptions = {},
  ): Promise<ForwardBackwardOutput> {
    return this.#forward(data, { lossFn, lossConfig, forwardOnly: true }, options);
  }

  async #forward(
    data: readonly Datum[],
    loss: {
      readonly lossFn: string;
      readonly lossConfig: Readonly<Record<string, number>>;
      readonly forwardOnly: boolean;
    },
    options: FireworksCallOptions,
  ): Promise<ForwardBackwardOutput> {
    checkData(data);
    const { modelId } = this;
    const [route, type] = loss.forwardOnly
      ? (["forward", "Forward"] as const)
      : (["forward_backward", "ForwardBackward"] as const);
    const parts = cutIntoChunks(data, this.#limits, jsonBytes).map(async (chunk) => {
      const body = (seqId: number): object =>
        forwardBackwardToJson({ ...loss, data: chunk, modelId, seqId });
      return readOutput(await this.#ordered(route, type, body, options), chunk.length);
    });
    return joinOutputs(await Promise.all(parts));
  }

  /** Sends a body in this model's order, and waits for the result. */
  async #ordered(
    route: string,
    type: string,
    body: (seqId: number) => object,
    options: FireworksCallOptions,
  ): Promise<Json> {
    const issued = await this.#queue.submit(
      (seqId) =>
        this.#futures.issue({
          method: "POST",
          path: this.#futures.route(route),
          body: body(seqId),
          idempotencyKey: randomUUID(),
        }),
      isRefusal,
      options.signal,
    );
    return this.#futures.result(issued, type, options);
  }

  #orderedBody(body: object): (seqId: number) => object {
    return (seqId) => ({ ...body, model_id: this.modelId, seq_id: seqId });
  }

  /** Applies the accumulated gradient. @returns what the server measures. */
  async optimStep(
    params: FireworksAdamParams,
    options: FireworksStepOptions = {},
  ): Promise<Readonly<Record<string, number>>> {
    const body = {
      adam_params: {
        learning_rate: params.learningRate,
        beta1: params.beta1 ?? 0.9,
        beta2: params.beta2 ?? 0.95,
        eps: params.eps ?? 1e-12,
        weight_decay: params.weightDecay ?? 0,
        grad_clip_norm: params.gradClipNorm ?? 0,
      },
      type: "optim_step",
      ...defined({ grad_accumulation_normalization: options.normalization }),
    };
    const result = await this.#ordered("optim_step", "OptimStep", this.#orderedBody(body), options);
    return (result["metrics"] as Readonly<Record<string, number>> | null | undefined) ?? {};
  }

  /**
   * Keeps the weights to sample from.
   * @param name gets a suffix that makes it unique.
   * @returns `<account>/<run>/<name>`
   */
  async saveForSampler(name: string, options: FireworksCallOptions = {}): Promise<string> {
    const path = `${name}-${nameSuffix()}`;
    checkName(path, "The snapshot");
    const route = "save_weights_for_sampler";
    const body = this.#orderedBody({ path, type: route, checkpoint_type: "base" });
    return textField(await this.#ordered(route, "SaveWeightsForSampler", body, options), "path");
  }

  /** Keeps weights and optimizer, for as long as the session is there. @returns the checkpoint's path */
  async saveState(name: string, options: FireworksCallOptions = {}): Promise<string> {
    checkName(name, "The checkpoint");
    const body = this.#orderedBody({ path: name, overwrite: false, type: "save_weights" });
    return textField(await this.#ordered("save_weights", "SaveWeights", body, options), "path");
  }

  /** Of the same run only: serverless training does not load checkpoints of others. */
  async loadState(
    path: string,
    withOptimizer: boolean,
    options: FireworksCallOptions = {},
  ): Promise<void> {
    const body = this.#orderedBody({ path, optimizer: withOptimizer, type: "load_weights" });
    await this.#ordered("load_weights", "LoadWeights", body, options);
  }

  /** Ends the model. */
  async unload(options: FireworksCallOptions = {}): Promise<void> {
    if (this.#isUnloaded) return;
    this.#isUnloaded = true;
    const issued = await this.#futures.issue({
      method: "POST",
      path: this.#futures.route("unload_model"),
      body: { model_id: this.modelId, type: "unload_model" },
      idempotencyKey: randomUUID(),
      signal: options.signal,
    });
    await this.#futures.result(issued, "Unload model", options);
  }
}

/** Length of the JSON of a datum, rounded up. */
function jsonBytes({ tokens, lossInputs }: Datum): number {
  let bytes = 200 + charactersOf(tokens);
  for (const { data } of Object.values(lossInputs)) bytes += 60 + charactersOf(data);
  return bytes;
}

function charactersOf(values: Int32Array | Float32Array): number {
  let count = 0;
  for (const value of values) count += String(value).length + 1;
  return count;
}

/** @throws FireworksError */
function readOutput(result: Json, datums: number): ForwardBackwardOutput {
  let output: ForwardBackwardOutput;
  try {
    output = outputFromJson(result);
  } catch (error) {
    throw error instanceof TinkerWireError ? wireError(error.message) : error;
  }
  if (output.outputs.length === datums) return output;
  throw wireError(`A result has ${output.outputs.length} outputs for ${datums} sequences.`);
}

function lost(modelId: string, cause: unknown): FireworksError {
  return new FireworksError({
    message: `Model ${modelId} takes no more requests, since it is not known whether an earlier one arrived.`,
    hint: "Start a new run.",
    cause,
    fields: { modelId },
  });
}
