/**
 * A serverless training session: models to train, samplers, checkpoints. Heartbeats keep it alive until it
 * is deleted, which frees its slot and ends what it costs.
 */
import { ConfigError } from "../../../core/errors.ts";
import { defined } from "../../../util/defined.ts";
import { Session } from "../../../tinker-api/wire/session.ts";
import type { Json } from "../../../tinker-api/wire/transport.ts";
import { AdaptiveSlots } from "../../../util/adaptive-slots.ts";
import {
  resolveSettings,
  type FireworksCallOptions,
  type FireworksClientOptions,
} from "./client-options.ts";
import { deleteResource } from "./delete-resource.ts";
import { FireworksError, wireError } from "./fireworks-error.ts";
import { FireworksHttp } from "./http.ts";
import { readCapabilities } from "./model-capabilities.ts";
import { checkName } from "./names.ts";
import { FireworksSamplingClient } from "./sampling-client.ts";
import { FireworksTrainingClient } from "./training-client.ts";

/** The LoRA adapter to create, and on which base model; rank 0 trains every weight, on a dedicated trainer. */
export interface FireworksModelOptions extends FireworksCallOptions {
  /** `accounts/fireworks/models/...` */
  readonly baseModel: string;
  readonly rank: number;
  /** The update is scaled by alpha / rank. @default 32 */
  readonly alpha?: number;
  /** @default true */
  readonly trainUnembed?: boolean;
  /** @default true */
  readonly trainMlp?: boolean;
  /** @default true */
  readonly trainAttention?: boolean;
  /** The initial factors derive from it. @default the server's choice */
  readonly seed?: number;
}

/** A checkpoint of a session, as the control plane lists it. */
export interface FireworksCheckpoint {
  /** Full resource name, or the last part of it. */
  readonly name: string;
  /** Whether it can become a model of the account. */
  readonly isPromotable: boolean;
  readonly createTime: string | null;
}

const sdkVersion = "0.23.0";

interface ClientParts {
  readonly http: FireworksHttp;
  readonly account: string;
  /** Resource name of the deployment that samples for a dedicated trainer. @default none: serverless */
  readonly deployment?: string | null;
}

/** A serverless training session of Fireworks. Created by `createFireworksClient`. */
export class FireworksClient implements AsyncDisposable {
  readonly account: string;
  readonly #http: FireworksHttp;
  readonly #session: Session;
  readonly #slots: AdaptiveSlots;
  readonly #deployment: string | null;
  #deleted: Promise<boolean> | undefined;

  /** @internal Use {@link createFireworksClient}. */
  constructor({ http, account, deployment = null }: ClientParts, session: Session) {
    this.#http = http;
    this.#session = session;
    this.#deployment = deployment;
    this.#slots = new AdaptiveSlots(http.settings.maxConcurrentSamples);
    this.account = account;
  }

  /** `ts-...` */
  get sessionId(): string {
    return this.#session.id;
  }

  /** Of the control plane: `accounts/<account>/trainingSessions/<session>`. */
  get sessionName(): string {
    return `accounts/${this.account}/trainingSessions/${this.sessionId}`;
  }

  /** A new LoRA adapter on `baseModel`. */
  createModel(options: FireworksModelOptions): Promise<FireworksTrainingClient> {
    const lora = {
      alpha: options.alpha ?? 32,
      rank: options.rank,
      train_unembed: options.trainUnembed ?? true,
      train_mlp: options.trainMlp ?? true,
      train_attn: options.trainAttention ?? true,
      ...defined({ seed: options.seed }),
    };
    return this.#create({ base_model: options.baseModel, lora_config: lora }, options);
  }

  /** The base model, frozen: it computes log-probabilities and cannot be trained. */
  createReference(
    baseModel: string,
    options: FireworksCallOptions = {},
  ): Promise<FireworksTrainingClient> {
    return this.#create({ base_model: baseModel, base_only: true }, options);
  }

  async #create(fields: object, options: FireworksCallOptions): Promise<FireworksTrainingClient> {
    const { modelId, answer } = await this.#session.createModel(fields, options);
    return new FireworksTrainingClient(this.#http, modelId, readCapabilities(answer));
  }

  /** A sampler of a snapshot that `saveForSampler` returned, or of the base model. */
  createSampler(snapshot: string | null): FireworksSamplingClient {
    if (this.#deployment !== null)
      return new FireworksSamplingClient(this.#http, this.#slots, this.#deployment);
    const path = snapshot === null ? "" : `/checkpoints/${snapshot}`;
    return new FireworksSamplingClient(this.#http, this.#slots, `${this.sessionName}${path}`);
  }

  /** Names of the checkpoints that the session's models have saved. */
  async checkpointNames(options: FireworksCallOptions = {}): Promise<readonly string[]> {
    const { checkpoints } = await this.#http.json({
      method: "GET",
      path: this.#http.route("list_checkpoints"),
      signal: options.signal,
    });
    if (Array.isArray(checkpoints) && checkpoints.every((name) => typeof name === "string"))
      return checkpoints;
    throw wireError("The list of checkpoints is not as expected.");
  }

  /** The same by the control plane, which says which can be promoted. */
  async checkpoints(options: FireworksCallOptions = {}): Promise<readonly FireworksCheckpoint[]> {
    const found: FireworksCheckpoint[] = [];
    let token = "";
    do {
      const query = `pageSize=200${token === "" ? "" : `&pageToken=${encodeURIComponent(token)}`}`;
      const page = await this.#http.json({
        method: "GET",
        path: `/v1/${this.sessionName}/checkpoints?${query}`,
        signal: options.signal,
      });
      found.push(...this.#listed(page["trainingSessionCheckpoints"]));
      token = typeof page["nextPageToken"] === "string" ? page["nextPageToken"] : "";
    } while (token !== "");
    return found;
  }

  #listed(entries: unknown): readonly FireworksCheckpoint[] {
    if (entries === undefined || entries === null) return [];
    if (!Array.isArray(entries)) throw wireError("The list of checkpoints is not as expected.");
    return (entries as Json[]).map((entry) => ({
      name: this.#http.field(entry, "name"),
      isPromotable: entry["promotable"] === true,
      createTime: typeof entry["createTime"] === "string" ? entry["createTime"] : null,
    }));
  }

  /**
   * Makes a model of the account from a snapshot; it stays when the session is deleted.
   * @param snapshot what `saveForSampler` returned.
   * @param outputModel its name: letters, digits and hyphens.
   * @returns the model's resource name.
   * @throws FireworksError when the snapshot is not there or cannot be promoted.
   */
  async promote(
    snapshot: string,
    outputModel: string,
    baseModel: string,
    options: FireworksCallOptions = {},
  ): Promise<string> {
    checkName(outputModel, "The model");
    const all = await this.checkpoints(options);
    const found = all.find(({ name }) => isCheckpoint(name, snapshot));
    if (found?.isPromotable !== true)
      throw new FireworksError({
        message: `${snapshot} cannot be promoted: ${found === undefined ? "the session has no such checkpoint" : "the service says that it is not promotable"}.`,
        fields: { snapshot, checkpoints: all.map(({ name }) => name) },
      });
    const model = `accounts/${this.account}/models/${outputModel}`;
    await this.#http.json({
      method: "POST",
      path: `/v1/${this.sessionName}/checkpoints/${encodeURIComponent(lastPart(found.name))}:promote`,
      json: { output_model: model, base_model: baseModel },
      signal: options.signal,
    });
    return model;
  }

  /**
   * Deletes the session with everything in it; again and again, while that can help.
   * @returns false when it may still be there, after a warning that names it.
   */
  delete(): Promise<boolean> {
    this.#session.stop();
    this.#http.close(new FireworksError({ message: "The Fireworks session was closed." }));
    this.#deleted ??= this.#delete();
    return this.#deleted;
  }

  async #delete(): Promise<boolean> {
    // A session on a dedicated trainer ends with the trainer.
    if (this.#deployment !== null) return true;
    return deleteResource(this.#http, this.sessionName, "training session");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.delete();
  }
}

const lastPart = (name: string): string => name.slice(name.lastIndexOf("/") + 1);

/** Listed by the name alone, or as `<run>.<name>`. */
function isCheckpoint(listedName: string, snapshot: string): boolean {
  const [name = "", run = ""] = snapshot.split("/").toReversed();
  const id = lastPart(listedName);
  return id === name || id === `${run}.${name}`;
}

/** @throws ConfigError when the key sees none, or several. */
export async function findAccount(http: FireworksHttp): Promise<string> {
  const { accounts } = await http.json({ method: "GET", path: "/v1/accounts?pageSize=2" });
  const names = Array.isArray(accounts) ? (accounts as Json[]).map(({ name }) => name) : [];
  const [first] = names;
  if (names.length === 1 && typeof first === "string") return first.replace(/^accounts\//u, "");
  throw new ConfigError({
    message: `The Fireworks key can see ${names.length === 0 ? "no account" : "several accounts"}.`,
    hint: "Set fireworks.account to the account that pays for the run.",
    fields: { names },
  });
}

/**
 * Opens a serverless training session on Fireworks. The caller deletes it: declare the client with
 * `await using`.
 *
 * @throws ConfigError without an API key.
 * @throws FireworksError when the service refuses the session or cannot be reached.
 *
 * @example
 * await using client = await createFireworksClient();
 * const baseModel = "accounts/fireworks/models/qwen3p5-9b";
 * const training = await client.createModel({ baseModel, rank: 8 });
 */
export async function createFireworksClient(
  options: FireworksClientOptions = {},
): Promise<FireworksClient> {
  const settings = resolveSettings(options);
  const http = new FireworksHttp(settings);
  // First: without it, a session could not be deleted.
  const account = settings.account ?? (await findAccount(http));
  return openSession({ http, account });
}

/** Opens a session on the trainer that `http` leads to. */
export async function openSession(parts: ClientParts): Promise<FireworksClient> {
  const body = { tags: [], user_metadata: {}, sdk_version: sdkVersion };
  return new FireworksClient(parts, await Session.open(parts.http, body));
}
