/**
 * A session with a Tinker server: models to train, samplers, lists. Heartbeats keep it alive until it
 * is closed.
 */
import { AdaptiveSlots } from "../util/adaptive-slots.ts";
import { defined } from "../util/defined.ts";
import { Credentials } from "./credentials.ts";
import { defaultChunkLimits, type ChunkLimits } from "./chunks.ts";
import {
  resolveSettings,
  type ClientSettings,
  type TinkerClientOptions,
} from "./client-options.ts";
import { RestClient } from "./rest-client.ts";
import { SamplingClient } from "./sampling-client.ts";
import { TinkerStatusError } from "./tinker-error.ts";
import { tinkerProfile } from "./tinker-profile.ts";
import { TrainingClient } from "./training-client.ts";
import type { TinkerCallOptions } from "./wire/futures.ts";
import { Session } from "./wire/session.ts";
import { Transport } from "./wire/transport.ts";

/** The LoRA adapter to create, and on which base model. */
export interface CreateModelOptions extends TinkerCallOptions {
  readonly baseModel: string;
  /** Rank of the adapter; its scale is 32 / rank. @default 32 */
  readonly rank?: number;
  /** The initial factors derive from it. @default the server's choice */
  readonly seed?: number;
  /** @default true */
  readonly trainAttention?: boolean;
  /** @default true */
  readonly trainMlp?: boolean;
  /** @default true */
  readonly trainUnembed?: boolean;
  readonly userMetadata?: Readonly<Record<string, string>>;
}

interface ServerFlags {
  readonly pjwt_auth_enabled?: boolean;
  readonly fwdbwd_max_chunk_len?: number;
  readonly fwdbwd_max_chunk_bytes_count?: number;
}

const finishTimeoutMs = 5_000;

interface ClientParts {
  readonly session: Session;
  readonly limits: ChunkLimits;
  readonly settings: ClientSettings;
}

/** A session with a Tinker server. Created by `createTinkerClient`. */
export class TinkerClient implements AsyncDisposable {
  readonly sessionId: string;
  readonly rest: RestClient;
  readonly #parts: ClientParts;
  /** Of all samplers of the client together: they share the server. */
  readonly #slots: AdaptiveSlots;
  #finished: Promise<void> | undefined;
  #nextSampler = 0;

  /** @internal Use {@link createTinkerClient}. */
  constructor(parts: ClientParts) {
    this.#parts = parts;
    this.sessionId = parts.session.id;
    this.rest = new RestClient(parts.session.transport);
    this.#slots = new AdaptiveSlots(parts.settings.maxConcurrentSamples);
  }

  get #transport(): Transport {
    return this.#parts.session.transport;
  }

  /** Of the server. */
  get baseUrl(): string {
    return this.#transport.baseUrl;
  }

  /** A new LoRA adapter on `baseModel`. */
  async createModel(options: CreateModelOptions): Promise<TrainingClient> {
    const { session, limits, settings } = this.#parts;
    const fields = {
      base_model: options.baseModel,
      ...defined({ user_metadata: options.userMetadata }),
      lora_config: {
        rank: options.rank ?? 32,
        ...defined({ seed: options.seed }),
        train_unembed: options.trainUnembed ?? true,
        train_mlp: options.trainMlp ?? true,
        train_attn: options.trainAttention ?? true,
      },
    };
    const { modelId } = await session.createModel(fields, options);
    const { encoding } = settings;
    return new TrainingClient(
      { transport: this.#transport, modelId, encoding, limits },
      { nextSeqId: () => this.#nextSampler++, make: (id) => this.#sampler(id) },
    );
  }

  #sampler(id: string): SamplingClient {
    return new SamplingClient(this.#transport, this.#slots, id);
  }

  /** A new model with the weights of a checkpoint, and its optimizer if wanted. */
  async createModelFromState(
    path: string,
    withOptimizer: boolean,
    options: TinkerCallOptions = {},
  ): Promise<TrainingClient> {
    const { baseModel, loraRank, ...trained } = await this.rest.weightsInfo(path);
    const model = await this.createModel({
      ...options,
      baseModel,
      ...trained,
      ...(loraRank === null ? {} : { rank: loraRank }),
    });
    await model.loadState(path, withOptimizer, options);
    return model;
  }

  /** A sampler of the base model, or of a checkpoint's weights. */
  async createSampler(
    of: { readonly baseModel: string } | { readonly modelPath: string },
    options: TinkerCallOptions = {},
  ): Promise<SamplingClient> {
    const source = "baseModel" in of ? { base_model: of.baseModel } : { model_path: of.modelPath };
    const body = {
      type: "create_sampling_session",
      session_id: this.sessionId,
      sampling_session_seq_id: this.#nextSampler++,
      ...source,
    };
    const { signal } = options;
    const answer = await this.#transport.post("create_sampling_session", body, signal);
    return this.#sampler(this.#transport.field(answer, "sampling_session_id"));
  }

  /** Ends the session, and its models with it. Checkpoints stay. */
  close(): void {
    void this[Symbol.asyncDispose]();
  }

  /** The same, and waits until the server knows. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#parts.session.stop();
    this.#finished ??= this.#finish();
    return this.#finished;
  }

  /** A server that does not know of it, or is away, ends the session for want of heartbeats. */
  async #finish(): Promise<void> {
    const call = {
      method: "POST",
      path: this.#transport.route(`sessions/${encodeURIComponent(this.sessionId)}/finish`),
      json: { reason: { type: "success" } },
      timeoutMs: finishTimeoutMs,
    } as const;
    await this.#transport.attempt(call).catch(() => undefined);
  }
}

/** Not every server has them. */
async function readFlags(transport: Transport, settings: ClientSettings): Promise<ServerFlags> {
  try {
    return await transport.post("client/config", { sdk_version: settings.sdkVersion });
  } catch (error) {
    if (error instanceof TinkerStatusError && error.status === 404) return {};
    throw error;
  }
}

/**
 * Opens a session with a Tinker server, hosted or self-hosted. The caller closes it: declare the client
 * with `await using`.
 *
 * @throws ConfigError without an API key.
 * @throws TinkerStatusError when the server refuses the session.
 * @throws TinkerUnreachableError when there is no server.
 *
 * @example
 * await using client = await createTinkerClient({ baseUrl: "http://127.0.0.1:8100" });
 * const training = await client.createModel({ baseModel: "builtin:shop-tiny", rank: 8 });
 */
export async function createTinkerClient(options: TinkerClientOptions = {}): Promise<TinkerClient> {
  const settings = resolveSettings(options);
  const credentials = new Credentials(settings.apiKey);
  const transport = new Transport(tinkerProfile(settings, credentials.current), settings);
  const flags = await readFlags(transport, settings);
  if (flags.pjwt_auth_enabled === true) await credentials.useTokens(transport);
  const session = await Session.open(transport, {
    tags: settings.tags,
    user_metadata: settings.userMetadata,
    sdk_version: settings.sdkVersion,
    ...(settings.projectId === null ? {} : { project_id: settings.projectId }),
  });
  const limits = {
    datums: flags.fwdbwd_max_chunk_len ?? defaultChunkLimits.datums,
    bytes: flags.fwdbwd_max_chunk_bytes_count ?? defaultChunkLimits.bytes,
  };
  return new TinkerClient({ session, limits, settings });
}
