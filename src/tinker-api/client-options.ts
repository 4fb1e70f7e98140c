/** Options of a client, and the values they resolve to. */
import type { WireSettings } from "./wire/server-profile.ts";
import { atLeastOne, fromEnvironment, resolveWire } from "./wire/settings.ts";

/** Options of a Tinker client: the server, the key, deadlines and the encoding. */
export interface TinkerClientOptions {
  /** @default TINKER_BASE_URL, or the hosted service */
  readonly baseUrl?: string;
  /** @default TINKER_API_KEY */
  readonly apiKey?: string;
  /** How training requests are written. `auto`: protobuf, or JSON where the server refuses it. @default "auto" */
  readonly encoding?: "auto" | "json" | "protobuf";
  /** Kept with the session. */
  readonly userMetadata?: Readonly<Record<string, string>>;
  /** Kept with the session. @default TINKER_TAGS, split at commas */
  readonly tags?: readonly string[];
  /** @default TINKER_PROJECT_ID */
  readonly projectId?: string;
  /** What is said to the server of this client; hosted refuses old ones. @default "0.38.0" */
  readonly sdkVersion?: string;
  /** Longest wait for the result of one call, in milliseconds. @default 1_800_000 */
  readonly deadlineMs?: number;
  /** How long a server may be unreachable or overloaded before a call fails, in milliseconds. @default 300_000 */
  readonly patienceMs?: number;
  /** Longest wait for one HTTP response, in milliseconds; a poll takes up to 45 s. @default 60_000 */
  readonly httpTimeoutMs?: number;
  /** Time between heartbeats, in milliseconds. @default 10_000 */
  readonly heartbeatMs?: number;
  /**
   * Samples in flight at the same time, at most. A response 429 or 503 halves how many there are, and
   * successes raise it again, by one for as many as there are.
   * @default 400
   */
  readonly maxConcurrentSamples?: number;
  /** Receives retries, heartbeats that fail and messages of the server. @default nothing */
  readonly onWarning?: (notice: string) => void;
  /** @default the global one */
  readonly fetch?: (input: string, init: RequestInit) => Promise<Response>;
  /** Waits between tries; for tests. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** In [0, 1); spreads retries. For tests. @default Math.random */
  readonly random?: () => number;
}

export interface ClientSettings extends WireSettings {
  readonly apiKey: string;
  readonly encoding: "auto" | "json" | "protobuf";
  readonly userMetadata: Readonly<Record<string, string>> | null;
  readonly tags: readonly string[];
  readonly projectId: string | null;
  readonly sdkVersion: string;
  readonly maxConcurrentSamples: number;
  readonly random: () => number;
}

/** @throws ConfigError when there is no key, or a URL or a number makes no sense. */
export function resolveSettings(options: TinkerClientOptions): ClientSettings {
  return {
    ...resolveWire(options, {
      prefix: "TINKER",
      urlOption: "tinker.base_url",
      hostedUrl: "https://tinker.thinkingmachines.dev/services/tinker-prod",
      noKey: {
        message: "There is no key for the Tinker server.",
        hint: "Set TINKER_API_KEY. Your own server may take any, such as tml-local.",
      },
      deadlineMs: 1_800_000,
      patienceMs: 300_000,
    }),
    ...atLeastOne({ maxConcurrentSamples: options.maxConcurrentSamples ?? 400 }),
    encoding: options.encoding ?? "auto",
    userMetadata: options.userMetadata ?? null,
    tags: options.tags ?? fromEnvironment("TINKER_TAGS")?.split(",") ?? [],
    projectId: options.projectId ?? fromEnvironment("TINKER_PROJECT_ID") ?? null,
    sdkVersion: options.sdkVersion ?? "0.38.0",
    random: options.random ?? Math.random,
  };
}
