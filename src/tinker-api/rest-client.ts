/** Lists, checkpoints and archives: what needs no session. */
import { delay } from "../util/abort.ts";
import { readLimitedBytes } from "../util/read-limited.ts";
import { TinkerStatusError, TinkerWireError } from "./tinker-error.ts";
import type { Transport } from "./wire/transport.ts";

/** A model that a Tinker server offers. */
export interface ServerModel {
  readonly name: string | null;
  /** In tokens. */
  readonly contextLength: number | null;
}

/** A checkpoint on a Tinker server. */
export interface CheckpointInfo {
  readonly path: string;
  readonly kind: "training" | "sampler";
  /** ISO 8601. */
  readonly time: string;
  readonly sizeBytes: number | null;
  readonly isPublic: boolean;
  readonly expiresAt: string | null;
}

/** A model that was trained on a Tinker server. */
export interface TrainingRunInfo {
  readonly id: string;
  readonly baseModel: string;
  readonly loraRank: number | null;
  readonly userMetadata: Readonly<Record<string, string>> | null;
}

/** What a checkpoint was trained from, and which of its parts were. */
export interface WeightsInfo {
  readonly baseModel: string;
  readonly loraRank: number | null;
  readonly trainAttention: boolean;
  readonly trainMlp: boolean;
  readonly trainUnembed: boolean;
}

/** Which part of a list to return. */
export interface TinkerPageOptions {
  /** @default 100 */
  readonly limit?: number;
  /** @default 0 */
  readonly offset?: number;
}

interface CheckpointJson {
  readonly checkpoint_type: "training" | "sampler";
  readonly time: string;
  readonly tinker_path: string;
  readonly size_bytes?: number | null;
  readonly public?: boolean;
  readonly expires_at?: string | null;
}

interface RunJson {
  readonly training_run_id: string;
  readonly base_model: string;
  readonly lora_rank?: number | null;
  readonly user_metadata?: Readonly<Record<string, string>> | null;
}

/** An archive may have to be built first. */
const archiveTries = 6;
const archiveWaitMs = 30_000;
const archiveLifeMs = 15 * 60_000;
/** An adapter of the largest models has some GiB; a buffer has at most this in all versions of Node. */
const maxArchiveBytes = 4 * 2 ** 30;

/** Lists and checkpoints of a Tinker server: `client.rest`. */
export class RestClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async #get<T>(path: string): Promise<T> {
    const answer = await this.#transport.json({ method: "GET", path: this.#transport.route(path) });
    return answer as T;
  }

  async #change(method: "POST" | "PUT" | "DELETE", path: string, body?: object): Promise<void> {
    const json = body === undefined ? {} : { json: body };
    await this.#transport.send({ method, path: this.#transport.route(path), ...json });
  }

  async models(): Promise<readonly ServerModel[]> {
    type Response = { supported_models: { model_name?: string; max_context_length?: number }[] };
    const { supported_models: models } = await this.#get<Response>("get_server_capabilities");
    return models.map(({ model_name: name = null, max_context_length: contextLength = null }) => ({
      name,
      contextLength,
    }));
  }

  async trainingRuns(page: TinkerPageOptions = {}): Promise<readonly TrainingRunInfo[]> {
    type Response = { training_runs: RunJson[] };
    return (await this.#get<Response>(`training_runs?${query(page)}`)).training_runs.map(toRun);
  }

  async trainingRun(id: string): Promise<TrainingRunInfo> {
    return toRun(await this.#get<RunJson>(`training_runs/${id}`));
  }

  /** @param runId absent lists those of all runs, newest first. */
  async checkpoints(
    runId?: string,
    page: TinkerPageOptions = {},
  ): Promise<readonly CheckpointInfo[]> {
    const path =
      runId === undefined ? `checkpoints?${query(page)}` : `training_runs/${runId}/checkpoints`;
    const { checkpoints } = await this.#get<{ checkpoints: CheckpointJson[] }>(path);
    return checkpoints.map((one) => ({
      path: one.tinker_path,
      kind: one.checkpoint_type,
      time: one.time,
      sizeBytes: one.size_bytes ?? null,
      isPublic: one.public ?? false,
      expiresAt: one.expires_at ?? null,
    }));
  }

  async sessions(page: TinkerPageOptions = {}): Promise<readonly string[]> {
    return (await this.#get<{ sessions: string[] }>(`sessions?${query(page)}`)).sessions;
  }

  async weightsInfo(path: string): Promise<WeightsInfo> {
    type Response = {
      base_model: string;
      lora_rank?: number | null;
      train_attn?: boolean | null;
      train_mlp?: boolean | null;
      train_unembed?: boolean | null;
    };
    const info = (await this.#transport.post("weights_info", { tinker_path: path })) as Response;
    return {
      baseModel: info.base_model,
      loraRank: info.lora_rank ?? null,
      trainAttention: info.train_attn ?? true,
      trainMlp: info.train_mlp ?? true,
      trainUnembed: info.train_unembed ?? true,
    };
  }

  deleteCheckpoint(path: string): Promise<void> {
    return this.#change("DELETE", routeOf(path));
  }

  publishCheckpoint(path: string): Promise<void> {
    return this.#change("POST", `${routeOf(path)}/publish`);
  }

  unpublishCheckpoint(path: string): Promise<void> {
    return this.#change("DELETE", `${routeOf(path)}/publish`);
  }

  /** @param seconds null keeps it for ever. */
  setCheckpointTtl(path: string, seconds: number | null): Promise<void> {
    return this.#change("PUT", `${routeOf(path)}/ttl`, { ttl_seconds: seconds });
  }

  /** Where the files of a checkpoint can be fetched, without a key, until `expires`. */
  async archiveUrl(path: string): Promise<{ readonly url: string; readonly expires: Date }> {
    for (let tries = 1; ; tries++) {
      const { status, headers, bytes } = await this.#transport.send({
        method: "GET",
        path: this.#transport.route(`${routeOf(path)}/archive`),
        accept: (code) => code === 302 || code === 503,
      });
      if (status === 503 && tries < archiveTries) {
        await delay(archiveWaitMs);
        continue;
      }
      if (status === 503)
        throw new TinkerStatusError({ request: "GET archive", status }, "it is still being built.");
      const fallback = new Date(Date.now() + archiveLifeMs);
      if (status === 302) {
        const location = new URL(headers.get("location") ?? "", this.#transport.baseUrl);
        const expires = new Date(headers.get("expires") ?? Number.NaN);
        return {
          url: location.href,
          expires: Number.isNaN(expires.getTime()) ? fallback : expires,
        };
      }
      const response = JSON.parse(new TextDecoder().decode(bytes)) as {
        url: string;
        expires?: string;
      };
      return {
        url: response.url,
        expires: response.expires ? new Date(response.expires) : fallback,
      };
    }
  }

  /** The bytes of the archive: a tar of PEFT files, perhaps compressed. */
  async downloadArchive(path: string): Promise<Uint8Array<ArrayBuffer>> {
    const { url } = await this.archiveUrl(path);
    const response = await fetch(url, { signal: AbortSignal.timeout(600_000) });
    if (!response.ok)
      throw new TinkerStatusError({ request: "GET archive", status: response.status }, path);
    return readLimitedBytes(
      response,
      maxArchiveBytes,
      () =>
        new TinkerWireError(
          `The archive of ${path} is larger than ${maxArchiveBytes / 2 ** 30} GiB.`,
        ),
    );
  }
}

function toRun(run: RunJson): TrainingRunInfo {
  return {
    id: run.training_run_id,
    baseModel: run.base_model,
    loraRank: run.lora_rank ?? null,
    userMetadata: run.user_metadata ?? null,
  };
}

function query({ limit = 100, offset = 0 }: TinkerPageOptions): string {
  return `limit=${limit}&offset=${offset}`;
}

/** Ids hold colons, so no URL parser. */
function routeOf(path: string): string {
  const [run, kind, name, ...rest] = path.replace(/^tinker:\/\//u, "").split("/");
  if (!path.startsWith("tinker://") || !name || rest.length > 0)
    throw new TinkerWireError(`"${path}" is not a checkpoint: tinker://<run>/<kind>/<name>.`);
  return `training_runs/${run}/checkpoints/${kind}/${name}`;
}
