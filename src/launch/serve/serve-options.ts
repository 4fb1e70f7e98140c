/** Options of a model server, with defaults and bounds. */
import type { PullProgress } from "../../backends/local/index.ts";
import type { PrecisionOption } from "../../core/precision.ts";
import { ConfigError } from "../../core/errors.ts";
import type { ModelEndpoint } from "../evaluate/evaluation-options.ts";
import { isLoopback } from "../../http/local-clients.ts";

/** A model to serve, and the name that clients know it by. */
export interface ServedModelSpec {
  /** What requests name in `model`. @default the last part of the path */
  readonly name?: string;
  /**
   * The folder of a run (its newest checkpoint; `RUN/best` is that of the best validation), a checkpoint, a
   * model folder, a `.gguf` file, a name on the hub, a built-in model, or an OpenAI-compatible endpoint.
   */
  readonly model: string | ModelEndpoint;
}

/** Options of {@link createModelServer}. */
export interface ModelServerOptions {
  /** At least one; the first also gets requests that name no model. */
  readonly models: readonly (string | ServedModelSpec)[];
  /**
   * What clients send as their API key. @default none is required, and then only programs of this machine
   * are served
   */
  readonly key?: string;
  /**
   * Serves newer checkpoints of the runs in `models` as they are saved, and what `improve` hands over next.
   * @default false
   */
  readonly follow?: boolean;
  /**
   * Folder that every call is kept in, with the version that responded, and what is sent to `POST /feedback`.
   * @default none: nothing is kept
   */
  readonly store?: string;
  /** Time between two looks at the runs' folders, in milliseconds, at least 10. @default 1000 */
  readonly followEveryMs?: number;
  /** CPU threads per operation of the embedded engine. @default that of the run, or half of the CPUs */
  readonly threads?: number;
  /** What matrix products are computed in; see `LocalBackendOptions`. @default that of the run, or "auto" */
  readonly precision?: PrecisionOption;
  /** Aborting it ends loading the models. */
  readonly signal?: AbortSignal;
  /** Called when another checkpoint is served. */
  readonly onSwap?: (swap: ModelSwap) => void;
  /** Called with the progress of downloading a model from a hub. */
  readonly onPull?: (progress: PullProgress) => void;
  /** Called with warnings, as sentences. */
  readonly onWarning?: (message: string) => void;
  /** Called with failures that clients only see as a 5xx. */
  readonly onError?: (error: unknown) => void;
}

/** Another checkpoint is served under a name. */
export interface ModelSwap {
  readonly model: string;
  /** Step of its run. */
  readonly step: number;
  readonly checkpoint: string;
}

/** @throws ConfigError for a key that no client could send, or none where others could connect. */
export function checkKey(key: string | undefined, host = "127.0.0.1"): void {
  if (key !== undefined && !/^[\x21-\x7e]+$/u.test(key)) {
    throw new ConfigError({
      message: "The key must not be empty or contain spaces or other than ASCII characters.",
      hint: "Leave it out to serve programs of this machine without one.",
      fields: { option: "key" },
    });
  }
  if (key !== undefined || isLoopback(host)) return;
  throw new ConfigError({
    message: `The models would be open to everyone who reaches ${host}, since no key is set.`,
    hint: "Set a key with --key or AGENT_TRAINER_SERVE_KEY (in code: key), or listen on 127.0.0.1.",
    fields: { option: "host", value: host },
  });
}
