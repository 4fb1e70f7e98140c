/** Options of a gateway, with defaults and bounds. */
import type { InferenceTarget } from "../core/backend.ts";
import { ConfigError } from "../core/errors.ts";
import type { PromptLimit } from "./call/prompt.ts";
import { defaultBytesInFlight } from "./http/body-budget.ts";
import type { ExchangeListener } from "./http/exchange.ts";
import type { TraceStore } from "./store/trace-store.ts";

/** Options of a gateway: what samples, where traces are stored, and limits. */
export interface GatewayOptions {
  /** Where calls are sampled. */
  readonly target: InferenceTarget;
  /** The name that responses carry and `GET /v1/models` lists. */
  readonly model: string;
  /** Refuses longer prompts, whichever way they are given. @default none: the context window */
  readonly promptLimit?: PromptLimit;
  /** The caller closes it, after the gateway. @default a store in memory */
  readonly store?: TraceStore;
  /** Opens the admin routes. @default made at random; see `Gateway.adminToken` */
  readonly adminToken?: string;
  /**
   * Asks for no tokens, neither for sessions nor for the admin routes, and lets the first call of a session
   * open it: for clients that cannot send a token. Only on this machine's own address. @default false
   */
  readonly open?: boolean;
  /** Longest duration of one model call, in milliseconds, at least 1. @default 600_000 */
  readonly requestTimeoutMs?: number;
  /**
   * The response of a call begins with status 200 after four times this, since clients give up on silence
   * (Node's fetch after 300 s); a later failure is reported in the body, and the connection is cut. Then, a
   * sign of life this often: white space before JSON, a comment in a stream. At least 1. @default 15_000
   */
  readonly keepAliveMs?: number;
  /** How long a request's body may take to arrive, at least 1. @default 60_000 */
  readonly bodyTimeoutMs?: number;
  /** Largest request body, at least 1. @default 32 MiB */
  readonly maxBodyBytes?: number;
  /**
   * Bytes of request bodies that all sessions together may have in flight, at least 1; further calls wait
   * for half of `bodyTimeoutMs` and are then refused with 503. One session may have half of them; what is
   * more is refused with 429. One call always has room.
   * @default a twelfth of the heap's limit, at least `maxBodyBytes`
   */
  readonly maxBytesInFlight?: number;
  /** Most open sessions, at least 1. @default 100_000 */
  readonly maxSessions?: number;
  /** Closes sessions without a call for this long and forgets them, at least 1. @default never */
  readonly sessionIdleMs?: number;
  /** Receives failures that clients only see as a 5xx. @default none */
  readonly onError?: (error: unknown) => void;
  /** Receives, once each, a warning for what clients request without effect. @default none */
  readonly onWarning?: (message: string) => void;
  /** Receives the bodies of every model call over HTTP, with keys redacted. @default none */
  readonly exchanges?: ExchangeListener;
}

// setTimeout's own bound: beyond it a timer fires at once.
const maxTimeoutMs = 2 ** 31 - 1;

export type GatewayLimits = Required<
  Pick<
    GatewayOptions,
    | "bodyTimeoutMs"
    | "keepAliveMs"
    | "maxBodyBytes"
    | "maxBytesInFlight"
    | "maxSessions"
    | "requestTimeoutMs"
  >
>;

const bounds: Readonly<Record<keyof GatewayLimits | "sessionIdleMs", number>> = {
  requestTimeoutMs: maxTimeoutMs,
  keepAliveMs: Math.floor(maxTimeoutMs / 4),
  bodyTimeoutMs: maxTimeoutMs,
  sessionIdleMs: maxTimeoutMs,
  maxBodyBytes: Number.MAX_SAFE_INTEGER,
  maxBytesInFlight: Number.MAX_SAFE_INTEGER,
  maxSessions: Number.MAX_SAFE_INTEGER,
};

/** The limits with their defaults. @throws ConfigError for an option out of bounds. */
export function checkLimits(options: GatewayOptions): GatewayLimits {
  for (const [option, max] of Object.entries(bounds) as [keyof typeof bounds, number][]) {
    const value = options[option];
    if (value === undefined || (Number.isInteger(value) && value >= 1 && value <= max)) continue;
    throw new ConfigError({
      message: `${option} must be an integer from 1 to ${max}, but it is ${value}.`,
      fields: { option, value },
    });
  }
  const { maxBodyBytes = 33_554_432 } = options;
  return {
    requestTimeoutMs: options.requestTimeoutMs ?? 600_000,
    keepAliveMs: options.keepAliveMs ?? 15_000,
    bodyTimeoutMs: options.bodyTimeoutMs ?? 60_000,
    maxBodyBytes,
    maxBytesInFlight: options.maxBytesInFlight ?? defaultBytesInFlight(maxBodyBytes),
    maxSessions: options.maxSessions ?? 100_000,
  };
}

/** @throws ConfigError */
export function checkAdminToken(adminToken: string): void {
  if (/^[\x21-\x7e]+$/.test(adminToken)) return;
  throw new ConfigError({
    message: "adminToken must not be empty or contain spaces.",
    hint: "Leave it out to have one made at random.",
    fields: { option: "adminToken" },
  });
}
