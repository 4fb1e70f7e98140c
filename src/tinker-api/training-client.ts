/**
 * One model being trained. Calls may be made without awaiting the ones before: they reach the server in
 * order, and each resolves with its own result.
 */
import type { ForwardBackwardOutput, ForwardBackwardRequest, Datum } from "./messages.ts";
import { checkData } from "./check-data.ts";
import { cutIntoChunks, defaultChunkLimits, joinOutputs, type ChunkLimits } from "./chunks.ts";
import { forwardBackwardToJson, outputFromJson } from "./codec/json-codec.ts";
import {
  decodeForwardBackwardOutput,
  encodeForwardBackwardRequest,
  protoMediaType,
} from "./codec/proto-codec.ts";
import {
  jsonOf,
  textOf,
  type Acknowledged,
  type TinkerCallOptions,
  type RequestContext,
} from "./request-context.ts";
import { SamplingClient } from "./sampling-client.ts";
import { SubmissionQueue } from "./submission-queue.ts";
import { TinkerStatusError } from "./tinker-error.ts";
import type { HttpCall } from "./transport.ts";

/** AdamW. Defaults are the service's. */
export interface AdamParams {
  /** @default 1e-4 */
  readonly learningRate?: number;
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

/** How long a saved checkpoint is kept. */
export interface SaveOptions extends TinkerCallOptions {
  /** Seconds until the server may delete it. @default never */
  readonly ttlSeconds?: number;
}

export interface TrainingClientParts {
  readonly context: RequestContext;
  readonly modelId: string;
  /** The next number of the session's samplers. */
  readonly nextSamplerSeqId: () => number;
  readonly limits?: ChunkLimits;
}

/** Trains one LoRA adapter on a Tinker server: gradients, optimizer steps, checkpoints, samplers. */
export class TrainingClient {
  readonly modelId: string;
  readonly #context: RequestContext;
  readonly #queue: SubmissionQueue;
  readonly #limits: ChunkLimits;
  readonly #nextSamplerSeqId: () => number;
  /** Settled by the first request when the client is to find out. */
  #usesProto: boolean | null;

  constructor(parts: TrainingClientParts) {
    this.modelId = parts.modelId;
    this.#context = parts.context;
    this.#queue = new SubmissionQueue(parts.modelId);
    this.#limits = parts.limits ?? defaultChunkLimits;
    this.#nextSamplerSeqId = parts.nextSamplerSeqId;
    const { encoding } = parts.context.settings;
    this.#usesProto = encoding === "auto" ? null : encoding === "protobuf";
  }

  /** Adds the gradient of the summed loss to what the next `optimStep` applies. */
  forwardBackward(
    data: readonly Datum[],
    lossFn: string,
    lossConfig: Readonly<Record<string, number>> = {},
    options: TinkerCallOptions = {},
  ): Promise<ForwardBackwardOutput> {
    return this.#forward({ data, lossFn, lossConfig, forwardOnly: false }, options);
  }

  /** The same without gradients. */
  forward(
    data: readonly Datum[],
    lossFn: string,
    lossConfig: Readonly<Record<string, number>> = {},
    options: TinkerCallOptions = {},
  ): Promise<ForwardBackwardOutput> {
    return this.#forward({ data, lossFn, lossConfig, forwardOnly: true }, options);
  }

  async #forward(
    request: Omit<ForwardBackwardRequest, "modelId" | "seqId">,
    options: TinkerCallOptions,
  ): Promise<ForwardBackwardOutput> {
    checkData(request.data);
    const { modelId } = this;
    const parts = cutIntoChunks(request.data, this.#limits).map((data) =>
      this.#queue
        .submit(
          async (seqId) => ({
            seqId,
            ...(await this.#submitForward({ ...request, data, modelId, seqId })),
          }),
          isRefusal,
          options.signal,
        )
        .then(async ({ requestId, seqId }) => {
          const type = request.forwardOnly ? "Forward" : "ForwardBackward";
          const payload = await this.#context.wait("forward_backward", type, requestId, options, {
            acceptProto: true,
            seqId,
          });
          return payload.kind === "proto"
            ? decodeForwardBackwardOutput(payload.bytes)
            : outputFromJson(payload.value);
        }),
    );
    return joinOutputs(await Promise.all(parts));
  }

  /** Protobuf first where that is open; a server that cannot read it has not taken the request. */
  async #submitForward(request: ForwardBackwardRequest): Promise<Acknowledged> {
    if (this.#usesProto !== false) {
      try {
        const bytes = encodeForwardBackwardRequest(request);
        const body = { bytes, type: protoMediaType };
        const path = "/api/v1/forward_backward";
        const result = await this.#context.submit({ method: "POST", path, body });
        this.#usesProto = true;
        return result;
      } catch (error) {
        const isFirst = this.#usesProto === null;
        if (!isFirst || !(error instanceof TinkerStatusError)) throw error;
        if (![400, 404, 406, 415, 422].includes(error.status)) throw error;
      }
    }
    const route = request.forwardOnly ? "forward" : "forward_backward";
    const body = JSON.stringify(forwardBackwardToJson(request));
    const result = await this.#context.submit({ method: "POST", path: `/api/v1/${route}`, body });
    this.#usesProto ??= false;
    return result;
  }

  /** Sends `body` in this model's order, and waits for the result. */
  async #ordered(
    path: string,
    type: string,
    body: object,
    options: TinkerCallOptions,
  ): Promise<Readonly<Record<string, unknown>>> {
    const { requestId, seqId } = await this.#queue.submit(
      async (number) => {
        const full = JSON.stringify({ ...body, model_id: this.modelId, seq_id: number });
        const call: HttpCall = { method: "POST", path: `/api/v1/${path}`, body: full };
        return { seqId: number, ...(await this.#context.submit(call)) };
      },
      isRefusal,
      options.signal,
    );
    return jsonOf(await this.#context.wait(path, type, requestId, options, { seqId }), path);
  }

  /** Applies the accumulated gradient and forgets it. @returns what the server measures. */
  async optimStep(
    params: AdamParams,
    options: TinkerCallOptions = {},
  ): Promise<Readonly<Record<string, number>>> {
    const adam = {
      learning_rate: params.learningRate ?? 1e-4,
      beta1: params.beta1 ?? 0.9,
      beta2: params.beta2 ?? 0.95,
      eps: params.eps ?? 1e-12,
      weight_decay: params.weightDecay ?? 0,
      grad_clip_norm: params.gradClipNorm ?? 0,
    };
    const body = { adam_params: adam, type: "optim_step" };
    const result = await this.#ordered("optim_step", "OptimStep", body, options);
    return (result["metrics"] as Readonly<Record<string, number>> | null | undefined) ?? {};
  }

  /** Weights and optimizer. @returns the `tinker://` path. */
  async saveState(name: string, options: SaveOptions = {}): Promise<string> {
    const expected = `tinker://${this.modelId}/weights/${name}`;
    const body = { path: name, overwrite: false, type: "save_weights", ...ttlOf(options) };
    const result = await this.#saved("save_weights", "SaveWeights", body, options, expected);
    return textOf(result, "path", expected);
  }

  /** Weights alone, to sample from. @returns the `tinker://` path. */
  async saveForSampler(name: string, options: SaveOptions = {}): Promise<string> {
    const expected = `tinker://${this.modelId}/sampler_weights/${name}`;
    const route = "save_weights_for_sampler";
    const body = { path: name, type: route, ...ttlOf(options) };
    const result = await this.#saved(route, "SaveWeightsForSampler", body, options, expected);
    return textOf(result, "path", expected);
  }

  /** A save that arrived although its response was lost is found by its second try. */
  async #saved(
    path: string,
    type: string,
    body: object,
    options: TinkerCallOptions,
    expected: string,
  ): Promise<Readonly<Record<string, unknown>>> {
    try {
      return await this.#ordered(path, type, body, options);
    } catch (error) {
      if (error instanceof TinkerStatusError && error.status === 409 && error.tries > 1)
        return { path: expected };
      throw error;
    }
  }

  /** A sampler of the weights as they are now; nothing is kept. */
  async createSampler(options: TinkerCallOptions = {}): Promise<SamplingClient> {
    const route = "save_weights_for_sampler";
    const body = { sampling_session_seq_id: this.#nextSamplerSeqId(), type: route };
    const result = await this.#ordered(route, "SaveWeightsForSampler", body, options);
    return new SamplingClient(this.#context, textOf(result, "sampling_session_id"));
  }

  /** Before anything else: many servers take it only as a model's first request. */
  async loadState(
    path: string,
    withOptimizer: boolean,
    options: TinkerCallOptions = {},
  ): Promise<void> {
    const body = { path, optimizer: withOptimizer, type: "load_weights" };
    await this.#ordered("load_weights", "LoadWeights", body, options);
  }

  info(options: TinkerCallOptions = {}): Promise<ModelInfo> {
    return this.#context
      .post<ModelInfoJson>("get_info", { model_id: this.modelId, type: "get_info" }, options)
      .then(({ model_data: data, lora_rank: rank, model_name: name }) => ({
        modelName: name ?? data?.model_name ?? data?.base_model ?? null,
        // A suffix says how the tokenizer is used, not which it is.
        tokenizer: data?.tokenizer_id?.replace(/:.*$/u, "") ?? null,
        loraRank: rank ?? null,
      }));
  }

  /** Ends the model; checkpoints stay. */
  async unload(options: TinkerCallOptions = {}): Promise<void> {
    const body = JSON.stringify({ model_id: this.modelId, type: "unload_model" });
    const { signal } = options;
    const abort = signal === undefined ? {} : { signal };
    const call: HttpCall = { method: "POST", path: "/api/v1/unload_model", body, ...abort };
    try {
      const { requestId } = await this.#context.submit(call);
      await this.#context.wait("unload_model", "UnloadModel", requestId, options);
    } catch (error) {
      // An unload that arrived although its response was lost leaves nothing to unload.
      if (!(error instanceof TinkerStatusError && error.status === 404 && error.tries > 1))
        throw error;
    }
  }
}

/** What a Tinker server says about the model that is trained. */
export interface ModelInfo {
  readonly modelName: string | null;
  /** A hub id, or a folder on the server's machine. */
  readonly tokenizer: string | null;
  readonly loraRank: number | null;
}

interface ModelInfoJson {
  readonly model_data?: {
    readonly model_name?: string;
    readonly base_model?: string;
    readonly tokenizer_id?: string;
  };
  readonly lora_rank?: number;
  readonly model_name?: string;
}

function ttlOf({ ttlSeconds }: SaveOptions): { ttl_seconds?: number } {
  return ttlSeconds === undefined ? {} : { ttl_seconds: ttlSeconds };
}

/** The server looked at the request and did not take it: its number is free. */
function isRefusal(error: unknown): boolean {
  return error instanceof TinkerStatusError && error.status < 500 && error.tries === 1;
}
