/** A model being trained on a Tinker server, with what only this service has: named checkpoints, samplers of the moment. */
import type { SamplingClient } from "./sampling-client.ts";
import { TinkerStatusError } from "./tinker-error.ts";
import type { TinkerCallOptions } from "./wire/futures.ts";
import { ModelClient, type ModelClientParts } from "./wire/model-client.ts";
import type { Json } from "./wire/transport.ts";

/** How long a saved checkpoint is kept. */
export interface SaveOptions extends TinkerCallOptions {
  /** Seconds until the server may delete it. @default never */
  readonly ttlSeconds?: number;
}

/** Samplers of the session. */
export interface SessionSamplers {
  readonly nextSeqId: () => number;
  readonly make: (id: string) => SamplingClient;
}

/** Trains one LoRA adapter on a Tinker server: gradients, optimizer steps, checkpoints, samplers. */
export class TrainingClient extends ModelClient {
  readonly #samplers: SessionSamplers;

  /** @internal Use `createModel` of {@link TinkerClient}. */
  constructor(parts: ModelClientParts, samplers: SessionSamplers) {
    super(parts);
    this.#samplers = samplers;
  }

  /** Weights and optimizer. @returns the `tinker://` path. */
  async saveState(name: string, options: SaveOptions = {}): Promise<string> {
    const expected = `tinker://${this.modelId}/weights/${name}`;
    const body = { path: name, overwrite: false, ...ttlOf(options) };
    const result = await this.#saved("save_weights", "SaveWeights", body, options, expected);
    return this.transport.field(result, "path", expected);
  }

  /** Weights alone, to sample from. @returns the `tinker://` path. */
  async saveForSampler(name: string, options: SaveOptions = {}): Promise<string> {
    const expected = `tinker://${this.modelId}/sampler_weights/${name}`;
    const route = "save_weights_for_sampler";
    const body = { path: name, ...ttlOf(options) };
    const result = await this.#saved(route, "SaveWeightsForSampler", body, options, expected);
    return this.transport.field(result, "path", expected);
  }

  /** A save that arrived although its response was lost is found by its second try. */
  async #saved(
    path: string,
    type: string,
    body: object,
    options: TinkerCallOptions,
    expected: string,
  ): Promise<Json> {
    try {
      return await this.ordered(path, type, body, options);
    } catch (error) {
      if (error instanceof TinkerStatusError && error.status === 409 && error.tries > 1)
        return { path: expected };
      throw error;
    }
  }

  /** A sampler of the weights as they are now; nothing is kept. */
  async createSampler(options: TinkerCallOptions = {}): Promise<SamplingClient> {
    const route = "save_weights_for_sampler";
    const body = { sampling_session_seq_id: this.#samplers.nextSeqId() };
    const result = await this.ordered(route, "SaveWeightsForSampler", body, options);
    return this.#samplers.make(this.transport.field(result, "sampling_session_id"));
  }

  async info({ signal }: TinkerCallOptions = {}): Promise<ModelInfo> {
    const body = { model_id: this.modelId, type: "get_info" };
    const answer = (await this.transport.post("get_info", body, signal)) as ModelInfoJson;
    const { model_data: data, lora_rank: rank, model_name: name } = answer;
    return {
      modelName: name ?? data?.model_name ?? data?.base_model ?? null,
      // A suffix says how the tokenizer is used, not which it is.
      tokenizer: data?.tokenizer_id?.replace(/:.*$/u, "") ?? null,
      loraRank: rank ?? null,
    };
  }

  /** Ends the model; checkpoints stay. */
  async unload(options: TinkerCallOptions = {}): Promise<void> {
    try {
      await this.end("UnloadModel", options);
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
