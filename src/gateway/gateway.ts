/** The gateway as one object: the function, its socket, its sessions and their end. */
import type { SamplerTarget } from "../core/backend.ts";
import { AgentTrainerError, ConfigError } from "../core/errors.ts";
import type { SessionHost } from "../core/session.ts";
import { toApiError } from "./api-error.ts";
import { createApp } from "./app.ts";
import { createToken, tokenDigest } from "./auth.ts";
import { createMemoryTraceStore } from "./memory-trace-store.ts";
import { serve, type HttpServer } from "./serve.ts";
import { createSessionHost, SessionTable } from "./session-table.ts";
import type { TraceStore } from "./trace-store.ts";

export interface GatewayOptions {
  /** What answers. */
  readonly target: SamplerTarget;
  /** The name that answers carry and `GET /v1/models` lists. */
  readonly model: string;
  /** @default a store in memory */
  readonly store?: TraceStore;
  /** Opens the admin routes. @default made at random; see `Gateway.adminToken` */
  readonly adminToken?: string;
  /** Longest duration of one model call, in milliseconds, at least 1. @default 600_000 */
  readonly requestTimeoutMs?: number;
  /** Largest request body, at least 1. @default 32 MiB */
  readonly maxBodyBytes?: number;
  /** Told of failures that clients only see as a 5xx. @default nobody */
  readonly onError?: (error: unknown) => void;
}

export interface ListenOptions {
  /** @default "127.0.0.1" */
  readonly host?: string;
  /** 0 takes a free one. @default 0 */
  readonly port?: number;
}

/**
 * An OpenAI-compatible server that captures every call.
 *
 * @example
 * const gateway = createGateway({ target, model: "my-model" });
 * await gateway.listen();
 * const session = await gateway.sessions.open({ uid: "rollout-1", seed: 1, sampling: {} });
 * // ... an agent calls session.baseUrl with session.apiKey ...
 * const traces = await session.traces();
 */
export interface Gateway extends AsyncDisposable {
  readonly adminToken: string;
  /** The server as a function. Never rejects. */
  fetch(request: Request): Promise<Response>;
  /** Once per gateway. @throws ConfigError when the address cannot be had. */
  listen(options?: ListenOptions): Promise<{ readonly url: string; readonly port: number }>;
  /** Sessions for rollouts in this process; `listen` comes first. */
  readonly sessions: SessionHost;
  /** Aborts calls in flight and closes the socket. Idempotent. */
  close(): Promise<void>;
}

// setTimeout's own bound: beyond it a timer fires at once.
const longestTimeoutMs = 2 ** 31 - 1;

function checkOptions(requestTimeoutMs: number, maxBodyBytes: number, adminToken: string): void {
  const limits = [
    ["requestTimeoutMs", requestTimeoutMs, longestTimeoutMs],
    ["maxBodyBytes", maxBodyBytes, Number.MAX_SAFE_INTEGER],
  ] as const;
  for (const [option, value, max] of limits) {
    if (Number.isInteger(value) && value >= 1 && value <= max) continue;
    throw new ConfigError({
      message: `${option} must be an integer from 1 to ${max}, but it is ${value}.`,
      fields: { option, value },
    });
  }
  if (/^\S+$/.test(adminToken)) return;
  throw new ConfigError({
    message: "adminToken must not be empty or contain spaces.",
    hint: "Leave it out to have one made at random.",
    fields: { option: "adminToken" },
  });
}

/** @throws ConfigError for an option out of bounds. */
export function createGateway(options: GatewayOptions): Gateway {
  const {
    target,
    model,
    store = createMemoryTraceStore(),
    adminToken = createToken("admin"),
    requestTimeoutMs = 600_000,
    maxBodyBytes = 32 * 2 ** 20,
    onError = () => undefined,
  } = options;
  checkOptions(requestTimeoutMs, maxBodyBytes, adminToken);
  const sessions = new SessionTable(store);
  const adminDigest = tokenDigest(adminToken);
  const fetch = createApp({
    target,
    model,
    sessions,
    adminDigest,
    requestTimeoutMs,
    maxBodyBytes,
    report: (error) => {
      const { status, code } = toApiError(error);
      if (status < 500 || code === "ABORTED") return;
      try {
        onError(error);
      } catch {
        // A listener that fails must not fail the answer.
      }
    },
  });
  let starting: Promise<HttpServer> | undefined;
  let server: HttpServer | undefined;
  let closing: Promise<void> | undefined;

  const origin = (): string => {
    if (server) return server.url;
    throw new AgentTrainerError({
      code: "REQUEST_INVALID",
      message: "The gateway has no address yet, so a session would have no URL.",
      hint: "Await gateway.listen() before gateway.sessions.open().",
    });
  };
  const shutDown = async (): Promise<void> => {
    await sessions.closeAll();
    await (await starting?.catch(() => undefined))?.close();
  };
  const close = (): Promise<void> => (closing ??= shutDown());

  return {
    adminToken,
    fetch,
    sessions: createSessionHost(sessions, model, origin),
    listen: async ({ host = "127.0.0.1", port = 0 } = {}) => {
      if (starting || closing) {
        throw new ConfigError({
          message: closing ? "The gateway is closed." : "The gateway is listening already.",
          hint: "Call listen() once, or create another gateway.",
        });
      }
      starting = serve(fetch, host, port);
      try {
        server = await starting;
      } catch (error) {
        starting = undefined;
        throw error;
      }
      return { url: server.url, port: server.port };
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
