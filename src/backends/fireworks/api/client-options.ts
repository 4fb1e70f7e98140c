/** Options of a client, and the values they resolve to. */
import { ConfigError } from "../../../core/errors.ts";
import { delay } from "../../../util/abort.ts";

const hostedUrl = "https://api.fireworks.ai";
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

export interface ClientSettings extends Required<Omit<FireworksClientOptions, "account">> {
  readonly account: string | null;
}

function fromEnvironment(name: string): string | undefined {
  const value = process.env[name];
  return value === undefined || value === "" ? undefined : value;
}

/** @throws ConfigError when there is no key, or a URL or a number makes no sense. */
export function resolveSettings(options: FireworksClientOptions): ClientSettings {
  const baseUrl = options.baseUrl ?? fromEnvironment("FIREWORKS_BASE_URL") ?? hostedUrl;
  if (!URL.canParse(baseUrl) || !/^https?:/u.test(baseUrl))
    throw new ConfigError({
      message: `fireworks.base_url is "${baseUrl}", which is no http or https URL.`,
      fields: { baseUrl },
    });
  const apiKey = options.apiKey ?? fromEnvironment("FIREWORKS_API_KEY");
  if (apiKey === undefined)
    throw new ConfigError({
      message: "There is no key for Fireworks.",
      hint: "Set FIREWORKS_API_KEY to a key with the training scope.",
    });
  const plain = baseUrl.replace(/\/+$/u, "");
  return {
    baseUrl: plain.endsWith(serverlessPath) ? plain.slice(0, -serverlessPath.length) : plain,
    apiKey,
    account: options.account?.replace(/^accounts\//u, "") ?? null,
    deadlineMs: positive("deadlineMs", options.deadlineMs ?? 3_600_000),
    patienceMs: positive("patienceMs", options.patienceMs ?? 3_600_000),
    httpTimeoutMs: positive("httpTimeoutMs", options.httpTimeoutMs ?? 60_000),
    sampleTimeoutMs: positive("sampleTimeoutMs", options.sampleTimeoutMs ?? 600_000),
    heartbeatMs: positive("heartbeatMs", options.heartbeatMs ?? 10_000),
    maxConcurrentSamples: positive("maxConcurrentSamples", options.maxConcurrentSamples ?? 64),
    onWarning: options.onWarning ?? (() => undefined),
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    sleep: options.sleep ?? delay,
  };
}

function positive(option: string, value: number): number {
  if (value >= 1) return value;
  throw new ConfigError({
    message: `${option} is ${value}, but must be at least 1.`,
    fields: { option, value },
  });
}
