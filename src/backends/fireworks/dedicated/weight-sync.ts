/** Loads a snapshot of the trainer into the deployment that samples, while it serves. */
import { DeadlineError } from "../../../core/errors.ts";
import { FireworksError, wireError } from "../api/fireworks-error.ts";
import type { Json } from "../../../tinker-api/wire/transport.ts";
import type { FireworksHttp } from "../api/http.ts";

export interface WeightSyncParts {
  readonly http: FireworksHttp;
  readonly deployment: string;
  readonly baseModel: string;
  /** Limit on one load. */
  readonly timeoutMs: number;
}

const path = "/hot_load/v1/models/hot_load";
const pollMs = 2_000;

export class WeightSync {
  readonly #parts: WeightSyncParts;
  #resetsPromptCache = true;

  constructor(parts: WeightSyncParts) {
    this.#parts = parts;
  }

  get #headers(): Readonly<Record<string, string>> {
    const { http, deployment, baseModel } = this.#parts;
    return {
      authorization: `Bearer ${http.settings.apiKey}`,
      "fireworks-model": baseModel,
      "fireworks-deployment": deployment,
    };
  }

  /**
   * Loads `identity`, the name under which the snapshot was saved, and waits until every replica serves it.
   * @throws FireworksError when it cannot be loaded. @throws DeadlineError
   */
  async load(identity: string, signal?: AbortSignal): Promise<void> {
    await this.#request(identity, signal);
    const { http, timeoutMs } = this.#parts;
    for (let waitedMs = 0; ; waitedMs += pollMs) {
      const { replicas } = await http.json({
        method: "GET",
        path,
        headers: this.#headers,
        signal,
      });
      if (!Array.isArray(replicas)) throw wireError("The state of a weight sync has no replicas.");
      const all = replicas as Json[];
      if (all.length > 0 && all.every((replica) => serves(replica, identity))) return;
      const broken = all.find((replica) => failsAt(replica, identity));
      if (broken !== undefined)
        throw new FireworksError({
          message: `The deployment ${this.#parts.deployment} cannot load the snapshot ${identity}.`,
          fields: { identity, replica: broken },
        });
      if (waitedMs >= timeoutMs)
        throw new DeadlineError(`Loading the snapshot ${identity} into the deployment`, timeoutMs);
      await http.sleep(pollMs, signal);
    }
  }

  async #request(identity: string, signal: AbortSignal | undefined): Promise<void> {
    const { http } = this.#parts;
    const cache = this.#resetsPromptCache ? { reset_prompt_cache: true } : {};
    const call = { method: "POST", path, headers: this.#headers, signal } as const;
    await http.json({ ...call, json: { identity, ...cache } }).catch(async (error: unknown) => {
      // Older servers do not know the field.
      const isUnknown =
        this.#resetsPromptCache &&
        error instanceof FireworksError &&
        /reset_prompt_cache/u.test(error.message);
      if (!isUnknown) throw error;
      this.#resetsPromptCache = false;
      await http.json({ ...call, json: { identity } });
    });
  }
}

function serves(replica: Json, identity: string): boolean {
  if (replica["readiness"] !== true) return false;
  if (replica["current_snapshot_identity"] === identity) return true;
  const adapters = replica["loaded_adapters"];
  return (
    Array.isArray(adapters) &&
    (adapters as Json[]).some((one) => one["identity"] === identity && one["status"] === "loaded")
  );
}

/** An error of an earlier snapshot may still be shown. */
function failsAt(replica: Json, identity: string): boolean {
  const state = (replica["loading_state"] ?? {}) as Json;
  return state["stage"] === "error" && state["target_snapshot_identity"] === identity;
}
