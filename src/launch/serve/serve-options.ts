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

/** How a candidate is tried in production, and when it is promoted or rolled back. */
export interface CanaryOptions {
  /** Of conversations that get the candidate, above 0 and below 1. */
  readonly share: number;
  /**
   * The candidate: a run, a checkpoint or another model, as in `models`; with `follow`, its newer checkpoints,
   * too. @default newer checkpoints of the run that is served, which needs `follow`
   */
  readonly candidate?: string;
  /** Pieces of feedback that each version needs before the first look, at least 1. @default 30 */
  readonly minFeedback?: number;
  /**
   * Promoted where the interval of the difference in mean feedback, candidate less version in use, lies above
   * it, from -1 to 1. @default 0
   */
  readonly minGain?: number;
  /** Rolled back where that interval lies below its negative, from 0 to 1. @default 0 */
  readonly maxLoss?: number;
}

/** What became of a candidate. */
export interface CanaryChange {
  /** The name that it is served under. */
  readonly model: string;
  readonly what: "trial" | "promoted" | "rolled back";
  readonly version: string;
  /** The numbers, as a sentence. */
  readonly why: string;
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
   * Serves newer checkpoints of the runs in `models` as they are saved; with a `canary`, a share of conversations
   * tries them first. @default false
   */
  readonly follow?: boolean;
  /**
   * Folder that every call is kept in, with the version that responded, and what is sent to `POST /feedback`.
   * @default none: nothing is kept
   */
  readonly store?: string;
  /** Tries candidates on a share of conversations; needs `store`, and one model. @default none */
  readonly canary?: CanaryOptions;
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
  /** Called when a candidate is tried, promoted or rolled back. */
  readonly onCanary?: (change: CanaryChange) => void;
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

/** With defaults. @throws ConfigError for what is out of bounds, or cannot be combined. */
export function checkCanary(
  { share, candidate, minFeedback = 30, minGain = 0, maxLoss = 0 }: CanaryOptions,
  { store, models, follow = false }: Pick<ModelServerOptions, "store" | "models" | "follow">,
): Required<Omit<CanaryOptions, "candidate">> {
  const refuse = (message: string, hint: string, option: string): never => {
    throw new ConfigError({ message, hint, fields: { option } });
  };
  const checks = {
    share: [share > 0 && share < 1, "above 0 and below 1", share],
    minFeedback: [Number.isInteger(minFeedback) && minFeedback >= 1, "1 or more", minFeedback],
    minGain: [minGain >= -1 && minGain <= 1, "from -1 to 1", minGain],
    maxLoss: [maxLoss >= 0 && maxLoss <= 1, "from 0 to 1", maxLoss],
  } as const;
  for (const [name, [isValid, range, value]] of Object.entries(checks))
    if (!isValid)
      refuse(`${name} of the canary must be ${range}, but it is ${value}.`, "Change it.", name);
  if (store === undefined)
    refuse(
      "A canary decides by feedback, but there is no folder to keep it in.",
      "Add --store FOLDER (in code: store).",
      "store",
    );
  if (models.length > 1)
    refuse(
      `A canary needs one model, but ${models.length} are served.`,
      "Serve the others with a second server.",
      "models",
    );
  if (candidate === undefined && !follow)
    refuse(
      "The canary has no candidate.",
      "Name one with --candidate MODEL, or add --follow for newer checkpoints of the run (in code: candidate, follow).",
      "candidate",
    );
  return { share, minFeedback, minGain, maxLoss };
}
