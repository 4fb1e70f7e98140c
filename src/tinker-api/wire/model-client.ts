/**
 * One model being trained. Calls may be made without awaiting the ones before: they reach the server in
 * order, under consecutive numbers, and each resolves with its own result.
 */
import { checkData } from "../check-data.ts";
import { cutIntoChunks, joinOutputs, type ChunkLimits } from "../chunks.ts";
import { forwardBackwardToJson, outputFromJson } from "../codec/json-codec.ts";
import { decodeForwardBackwardOutput, encodeForwardBackwardRequest } from "../codec/proto-codec.ts";
import type { Datum, ForwardBackwardOutput, ForwardBackwardRequest } from "../messages.ts";
import { TinkerWireError } from "../tinker-error.ts";
import {
  awaitJson,
  awaitResult,
  issue,
  type Issued,
  type Payload,
  type TinkerCallOptions,
} from "./futures.ts";
import { SubmissionQueue } from "./submission-queue.ts";
import type { HttpCall, Json, Transport } from "./transport.ts";

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

export interface ModelClientParts {
  readonly transport: Transport;
  readonly modelId: string;
  /** `auto` finds out by the first request. */
  readonly encoding: "auto" | "json" | "protobuf";
  readonly limits: ChunkLimits;
  /** Size of a datum on the wire. @default as protobuf */
  readonly bytesOf?: (datum: Datum) => number;
}

type Pass = Omit<ForwardBackwardRequest, "modelId" | "seqId" | "data">;

/** Of a server that cannot read protobuf. */
const unreadable = new Set<unknown>([400, 404, 406, 415, 422]);

export abstract class ModelClient {
  readonly modelId: string;
  protected readonly transport: Transport;
  readonly #parts: ModelClientParts;
  readonly #queue: SubmissionQueue;
  /** Settled by the first request when the client is to find out. */
  #usesProto: boolean | null;

  constructor(parts: ModelClientParts) {
    const { transport, modelId, encoding } = parts;
    this.modelId = modelId;
    this.transport = transport;
    this.#parts = parts;
    this.#queue = new SubmissionQueue((cause) =>
      transport.profile.errors.modelLost(modelId, cause),
    );
    this.#usesProto = encoding === "auto" ? null : encoding === "protobuf";
  }

  /** Adds the gradient of the summed loss to what the next `optimStep` applies. */
  forwardBackward(
    data: readonly Datum[],
    lossFn: string,
    lossConfig: Readonly<Record<string, number>> = {},
    options: TinkerCallOptions = {},
  ): Promise<ForwardBackwardOutput> {
    return this.#forward(data, { lossFn, lossConfig, forwardOnly: false }, options);
  }

  /** The same without gradients. */
  forward(
    data: readonly Datum[],
    lossFn: string,
    lossConfig: Readonly<Record<string, number>> = {},
    options: TinkerCallOptions = {},
  ): Promise<ForwardBackwardOutput> {
    return this.#forward(data, { lossFn, lossConfig, forwardOnly: true }, options);
  }

  async #forward(
    data: readonly Datum[],
    pass: Pass,
    options: TinkerCallOptions,
  ): Promise<ForwardBackwardOutput> {
    checkData(data);
    const { transport, modelId } = this;
    const { limits, bytesOf } = this.#parts;
    const type = pass.forwardOnly ? "Forward" : "ForwardBackward";
    const parts = cutIntoChunks(data, limits, bytesOf).map(async (chunk) => {
      const { seqId, issued } = await this.#inTurn(
        (number) => this.#issueForward({ ...pass, data: chunk, modelId, seqId: number }),
        options.signal,
      );
      const awaited = { ...options, type, acceptProto: transport.profile.acceptsProto, seqId };
      return this.#readOutput(await awaitResult(transport, issued, awaited), chunk.length);
    });
    return joinOutputs(await Promise.all(parts));
  }

  /** Protobuf first where that is open; a server that cannot read it has not taken the request. */
  async #issueForward(request: ForwardBackwardRequest): Promise<Issued> {
    const isFirst = this.#usesProto === null;
    if (this.#usesProto !== false) {
      try {
        const proto = encodeForwardBackwardRequest(request);
        const issued = await this.#issue("forward_backward", { proto });
        this.#usesProto = true;
        return issued;
      } catch (error) {
        const { status } = error as { status?: unknown };
        if (!isFirst || !unreadable.has(status)) throw error;
      }
    }
    const route = request.forwardOnly ? "forward" : "forward_backward";
    const issued = await this.#issue(route, { json: forwardBackwardToJson(request) });
    this.#usesProto ??= false;
    return issued;
  }

  /** @throws the service's error when it is not as expected. */
  #readOutput(payload: Payload, datums: number): ForwardBackwardOutput {
    const { errors, hasAllOutputs } = this.transport.profile;
    let output: ForwardBackwardOutput;
    try {
      output =
        payload.kind === "proto"
          ? decodeForwardBackwardOutput(payload.bytes)
          : outputFromJson(payload.value);
    } catch (error) {
      throw error instanceof TinkerWireError ? errors.wire(error.message, error.fields) : error;
    }
    const { length } = output.outputs;
    if (!hasAllOutputs || length === datums) return output;
    throw errors.wire(`A result has ${length} outputs for ${datums} sequences.`);
  }

  #issue(
    route: string,
    body: Pick<HttpCall, "json" | "proto">,
    signal?: AbortSignal,
  ): Promise<Issued> {
    const { transport } = this;
    return issue(transport, { method: "POST", path: transport.route(route), ...body, signal });
  }

  async #inTurn(
    send: (seqId: number) => Promise<Issued>,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly seqId: number; readonly issued: Issued }> {
    return this.#queue.submit(async (seqId) => ({ seqId, issued: await send(seqId) }), signal);
  }

  /** Sends `body` in this model's order, and waits for the result. @param type for the server's statistics. */
  protected async ordered(
    route: string,
    type: string,
    body: object,
    options: TinkerCallOptions,
  ): Promise<Json> {
    const { seqId, issued } = await this.#inTurn((number) => {
      const json = { ...body, type: route, model_id: this.modelId, seq_id: number };
      return this.#issue(route, { json });
    }, options.signal);
    return awaitJson(this.transport, issued, { ...options, type, seqId });
  }

  /** Applies the accumulated gradient and forgets it. @returns what the server measures. */
  optimStep(
    params: AdamParams,
    options: TinkerCallOptions = {},
  ): Promise<Readonly<Record<string, number>>> {
    return this.step(params, {}, options);
  }

  /** @param fields of the request in addition to the optimizer's. */
  protected async step(
    params: AdamParams,
    fields: object,
    options: TinkerCallOptions,
  ): Promise<Readonly<Record<string, number>>> {
    const adam = {
      learning_rate: params.learningRate ?? 1e-4,
      beta1: params.beta1 ?? 0.9,
      beta2: params.beta2 ?? 0.95,
      eps: params.eps ?? 1e-12,
      weight_decay: params.weightDecay ?? 0,
      grad_clip_norm: params.gradClipNorm ?? 0,
    };
    const body = { adam_params: adam, ...fields };
    const result = await this.ordered("optim_step", "OptimStep", body, options);
    return (result["metrics"] as Readonly<Record<string, number>> | null | undefined) ?? {};
  }

  /** Before anything else: many servers take it only as a model's first request. */
  async loadState(
    path: string,
    withOptimizer: boolean,
    options: TinkerCallOptions = {},
  ): Promise<void> {
    await this.ordered("load_weights", "LoadWeights", { path, optimizer: withOptimizer }, options);
  }

  /** Ends the model; checkpoints stay. */
  abstract unload(options?: TinkerCallOptions): Promise<void>;

  /** @param type for the server's statistics. */
  protected async end(type: string, options: TinkerCallOptions): Promise<void> {
    const json = { model_id: this.modelId, type: "unload_model" };
    const issued = await this.#issue("unload_model", { json }, options.signal);
    await awaitJson(this.transport, issued, { ...options, type });
  }
}
