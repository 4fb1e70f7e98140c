/** Options of a client, and the values they resolve to. */
import type { WireSettings } from "../../../tinker-api/wire/server-profile.ts";
import { atLeastOne, resolveWire } from "../../../tinker-api/wire/settings.ts";

/** What serverless training is mounted at, under the API's root. */
export const serverlessPath = "/training/v1/serverless";

/** Options of a Fireworks client: the URL, the key and deadlines. */
export interface FireworksClientOptions {
  /** Root of the API, without `/training/v1/serverless`. @default FIREWORKS_BASE_URL, or the hosted service */
  readonly baseUrl?: string;
  /** A key with the training scope. @default FIREWORKS_API_KEY */
  readonly apiKey?: string;
  /** Account that the key belongs to. @default the only one that the key can see */
  readonly account?: string;
  /** Maximum wait for the result of one call, in milliseconds. @default 3_600_000 */
  readonly deadlineMs?: number;
  /** Maximum wait for a server that is unreachable or overloaded, in milliseconds. @default 3_600_000 */
  readonly patienceMs?: number;
  /** Maximum wait for one HTTP response, in milliseconds. @default 60_000 */
  readonly httpTimeoutMs?: number;
  /** Maximum duration of one sample, in milliseconds. @default 600_000 */
  readonly sampleTimeoutMs?: number;
  /** Time between heartbeats, in milliseconds. @default 10_000 */
  readonly heartbeatMs?: number;
  /** Samples in flight at the same time. @default 64 */
  readonly maxConcurrentSamples?: number;
  /** Receives retries, heartbeats that fail, messages of the server, and what could not be deleted. @default nothing */
  readonly onWarning?: (message: string) => void;
  /** @default the global one */
  readonly fetch?: (input: string, init: RequestInit) => Promise<Response>;
  /** Waits between attempts; for tests. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** Of one call. */
export interface FireworksCallOptions {
  /** Stops waiting; a request that the server has is carried out nevertheless. */
  readonly signal?: AbortSignal;
}

export interface ClientSettings extends WireSettings {
  readonly apiKey: string;
  readonly account: string | null;
  readonly sampleTimeoutMs: number;
  readonly maxConcurrentSamples: number;
}

/** @throws ConfigError when there is no key, or a URL or a number makes no sense. */
export function resolveSettings(options: FireworksClientOptions): ClientSettings {
  const wire = resolveWire(options, {
    prefix: "FIREWORKS",
    urlOption: "fireworks.base_url",
    hostedUrl: "https://api.fireworks.ai",
    noKey: {
      message: "There is no key for Fireworks.",
      hint: "Set FIREWORKS_API_KEY to a key with the training scope.",
    },
    deadlineMs: 3_600_000,
    patienceMs: 3_600_000,
  });
  const { baseUrl } = wire;
  return {
    ...wire,
    baseUrl: baseUrl.endsWith(serverlessPath) ? baseUrl.slice(0, -serverlessPath.length) : baseUrl,
    account: options.account?.replace(/^accounts\//u, "") ?? null,
    ...atLeastOne({
      sampleTimeoutMs: options.sampleTimeoutMs ?? 600_000,
      maxConcurrentSamples: options.maxConcurrentSamples ?? 64,
    }),
  };
}
