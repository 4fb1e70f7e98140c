/** How a rollout gets its own endpoint and gets back what was captured there. */
import { defaultAdapter } from "./adapter-names.ts";
import type { TrajectoryHandle } from "./agent.ts";
import type { FailedCall } from "./trajectory.ts";
import type { SamplingParams } from "./policy.ts";
import type { Trace } from "./trace.ts";

/** Adapters by role. */
export interface RoleAdapters {
  /** Roles that are not in it have the model's own adapter; null is the base alone. */
  readonly byRole: Readonly<Record<string, string | null>>;
  /** Of calls that belong to no trajectory. */
  readonly defaultRole: string;
}

/** null is the base alone. */
export function adapterOfRole({ byRole }: RoleAdapters, role: string): string | null {
  return Object.hasOwn(byRole, role) ? (byRole[role] ?? null) : defaultAdapter;
}

export interface SessionOptions {
  /** Unique among open sessions; any string. A retry must use a new one. */
  readonly uid: string;
  /** Overrides whatever the agent sends. */
  readonly sampling: Partial<Omit<SamplingParams, "rules" | "seed" | "stopTokenIds">>;
  /** Samples of this session derive from it and from the prompts, never from timing. */
  readonly seed: number;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Which adapter samples its calls. @default the model has no adapters of roles */
  readonly adapters?: RoleAdapters;
}

/** One rollout's session. Closing it revokes its token and forgets its traces. */
export interface RolloutSession {
  readonly uid: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly model: string;
  /** Calls this host without a socket, where it is in this process. @default the global `fetch` */
  readonly fetch?: typeof fetch;
  /**
   * Same name, same handle.
   * @param role whose adapter samples its calls from now on. @default the name
   */
  trajectory(name: string, role?: string): TrajectoryHandle;
  /** Everything captured so far, by order of dispatch. Resolves after calls in flight have been recorded or aborted. */
  traces(): Promise<readonly Trace[]>;
  /**
   * What is recorded now; calls in flight are not waited for. Optional: for a host without it,
   * `traces` is called.
   */
  recorded?(): Promise<readonly Trace[]>;
  /** The response of the last call, where that was a server error (5xx); else null. */
  serverError?(): string | null;
  /** Calls so far that ended without a response and were not repeated with success. */
  failedCalls?(): readonly FailedCall[];
  /** Idempotent. Aborts calls still in flight. */
  close(): Promise<void>;
}

export interface SessionHost {
  open(options: SessionOptions): Promise<RolloutSession>;
}
