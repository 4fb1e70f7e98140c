/**
 * A session with a Tinker server: models to train, samplers, lists. Heartbeats keep it alive until it
 * is closed.
 */
import { defined } from "../util/defined.ts";
import { Credentials } from "./credentials.ts";
import { defaultChunkLimits, type ChunkLimits } from "./chunks.ts";
import { resolveSettings, type TinkerClientOptions } from "./client-options.ts";
import { jsonOf, RequestContext, textOf, type TinkerCallOptions } from "./request-context.ts";
import { RestClient } from "./rest-client.ts";
import { SamplingClient } from "./sampling-client.ts";
import { TinkerStatusError } from "./tinker-error.ts";
import { TrainingClient } from "./training-client.ts";
import { Transport } from "./transport.ts";

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

const heartbeatTimeoutMs = 10_000;
const finishTimeoutMs = 5_000;
/** Without a heartbeat for so long, the server may end the session. */
const heartbeatWarningMs = 120_000;

/** A session with a Tinker server. Created by `createTinkerClient`. */
export class TinkerClient implements AsyncDisposable {
  readonly sessionId: string;
  readonly rest: RestClient;
  readonly #context: RequestContext;
  readonly #limits: ChunkLimits;
  readonly #heartbeat: NodeJS.Timeout;
  #finished: Promise<void> | undefined;
  #nextModel = 0;
  #nextSampler = 0;
  #lastHeartbeat = Date.now();
  /** Silence after which there is something to say. */
  #nextWarningMs = heartbeatWarningMs;

  /** @internal Use {@link createTinkerClient}. */
  constructor(context: RequestContext, sessionId: string, limits: ChunkLimits) {
    this.#context = context;
    this.sessionId = sessionId;
    this.#limits = limits;
    this.rest = new RestClient(context);
    this.#heartbeat = setInterval(() => void this.#beat(), context.settings.heartbeatMs);
    this.#heartbeat.unref();
  }

  /** Of the server. */
  get baseUrl(): string {
    return this.#context.transport.baseUrl;
  }

  async #beat(): Promise<void> {
    try {
      await this.#context.transport.send({
        method: "POST",
        path: "/api/v1/session_heartbeat",
        body: JSON.stringify({ session_id: this.sessionId, type: "session_heartbeat" }),
        timeoutMs: heartbeatTimeoutMs,
        once: true,
      });
      this.#lastHeartbeat = Date.now();
      this.#nextWarningMs = heartbeatWarningMs;
    } catch (error) {
      const silence = Date.now() - this.#lastHeartbeat;
      if (silence < this.#nextWarningMs) return;
      this.#nextWarningMs = silence + heartbeatWarningMs;
      this.#context.settings.onWarning(
        `No heartbeat has reached the server for ${Math.round(silence / 1000)} s: ${String(error)}`,
      );
    }
  }

  #training(modelId: string): TrainingClient {
    return new TrainingClient({
      context: this.#context,
      modelId,
      limits: this.#limits,
      nextSamplerSeqId: () => this.#nextSampler++,
    });
  }

  /** A new LoRA adapter on `baseModel`. */
  async createModel(options: CreateModelOptions): Promise<TrainingClient> {
    const body = {
      type: "create_model",
      session_id: this.sessionId,
      model_seq_id: this.#nextModel++,
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
    const { requestId, modelId } = await this.#context.submit({
      method: "POST",
      path: "/api/v1/create_model",
      body: JSON.stringify(body),
      ...defined({ signal: options.signal }),
    });
    const payload = await this.#context.wait("create_model", "CreateModel", requestId, options);
    const result = jsonOf(payload, "create_model");
    return this.#training(textOf(result, "model_id", modelId));
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
    const { sampling_session_id: id } = await this.#context.post<{ sampling_session_id: string }>(
      "create_sampling_session",
      {
        type: "create_sampling_session",
        session_id: this.sessionId,
        sampling_session_seq_id: this.#nextSampler++,
        ...source,
      },
      options,
    );
    return new SamplingClient(this.#context, id);
  }

  /** Ends the session, and its models with it. Checkpoints stay. */
  close(): void {
    void this[Symbol.asyncDispose]();
  }

  /** The same, and waits until the server knows. */
  [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#heartbeat);
    this.#finished ??= this.#finish();
    return this.#finished;
  }

  /** A server that does not know of it, or is away, ends the session for want of heartbeats. */
  async #finish(): Promise<void> {
    const call = {
      method: "POST",
      path: `/api/v1/sessions/${encodeURIComponent(this.sessionId)}/finish`,
      body: JSON.stringify({ reason: { type: "success" } }),
      timeoutMs: finishTimeoutMs,
      once: true,
    } as const;
    await this.#context.transport.send(call).catch(() => undefined);
  }
}

interface SessionJson {
  readonly session_id: string;
  readonly info_message?: string | null;
  readonly warning_message?: string | null;
  readonly error_message?: string | null;
}

/** Not every server has them. */
async function readFlags(context: RequestContext): Promise<ServerFlags> {
  try {
    return await context.post<ServerFlags>("client/config", {
      sdk_version: context.settings.sdkVersion,
    });
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
  const transport = new Transport({
    baseUrl: settings.baseUrl,
    timeoutMs: options.httpTimeoutMs ?? 60_000,
    patienceMs: settings.patienceMs,
    onWarning: settings.onWarning,
    key: credentials.current,
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    ...(options.sleep === undefined ? {} : { sleep: options.sleep }),
    ...(options.random === undefined ? {} : { random: options.random }),
  });
  const context = new RequestContext(transport, settings);
  const flags = await readFlags(context);
  if (flags.pjwt_auth_enabled === true) await credentials.useTokens(transport);
  const session = await context.post<SessionJson>("create_session", {
    type: "create_session",
    tags: settings.tags,
    user_metadata: settings.userMetadata,
    sdk_version: settings.sdkVersion,
    ...(settings.projectId === null ? {} : { project_id: settings.projectId }),
  });
  for (const kind of ["info", "warning", "error"] as const) {
    const message = session[`${kind}_message`];
    if (message) settings.onWarning(`The Tinker server says (${kind}): ${message}`);
  }
  return new TinkerClient(context, session.session_id, {
    datums: flags.fwdbwd_max_chunk_len ?? defaultChunkLimits.datums,
    bytes: flags.fwdbwd_max_chunk_bytes_count ?? defaultChunkLimits.bytes,
  });
}
