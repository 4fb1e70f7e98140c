/** The gateway as one object: the function, its socket, its sessions and their end. */
import { AgentTrainerError, ConfigError } from "../core/errors.ts";
import type { SessionHost } from "../core/session.ts";
import { defined } from "../util/defined.ts";
import { isLoopback } from "../http/local-clients.ts";
import { toApiError } from "./http/api-error.ts";
import { createApp } from "./app.ts";
import { createToken, tokenDigest } from "../http/keys.ts";
import { BodyBudget } from "./http/body-budget.ts";
import { CallGate } from "./call/call-gate.ts";
import { checkAdminToken, checkLimits, type GatewayOptions } from "./gateway-options.ts";
import { IgnoredFields } from "./routes/fields/ignored-fields.ts";
import { createMemoryTraceStore } from "./store/memory-trace-store.ts";
import { GatewayMetrics } from "./metrics.ts";
import { ExchangeRecorder } from "./http/exchange.ts";
import { toResponse } from "./http/reply.ts";
import type { Listening } from "../http/listen.ts";
import { serve } from "./http/serve.ts";
import { createSessionHost } from "./session/session-host.ts";
import { SessionTable } from "./session/session-table.ts";
import { openTarget } from "./targets/open-target.ts";
import { waitUntilIdle } from "./call/wait-until-idle.ts";

/** Where a gateway listens. */
export interface ListenOptions {
  /** Another than this machine's own needs a chosen `adminToken`. @default "127.0.0.1" */
  readonly host?: string;
  /** 0 takes a free one. @default 0 */
  readonly port?: number;
  /**
   * What agents reach it by, without a path: the address of a host for its containers, or of a tunnel.
   * @default the address that it listens on
   */
  readonly publicUrl?: string;
}

/**
 * A server that captures every call, as a function of a `Request` and on a socket. Created by
 * `createGateway`.
 */
export interface Gateway extends AsyncDisposable {
  readonly adminToken: string;
  /** The server as a function. Never rejects. */
  fetch(request: Request): Promise<Response>;
  /** Once per gateway. @throws ConfigError when the address cannot be had, or is not safe to have. */
  listen(options?: ListenOptions): Promise<{ readonly url: string; readonly port: number }>;
  /** Sessions for rollouts in this process; `listen` comes first. */
  readonly sessions: SessionHost;
  /** Lets new calls wait until `resume`; resolves with how many are in flight after `drainMs` at most. */
  pause(drainMs: number): Promise<number>;
  /** Lets the calls that wait begin. */
  resume(): void;
  /** What traces of calls say that begin from now on, where only the caller knows it. */
  setWeightVersion(version: number): void;
  /** Refuses new calls and waits for those in flight; resolves with how many are left. */
  drain(limitMs: number): Promise<number>;
  /** Aborts calls in flight and closes the socket. What the store keeps, stays. Idempotent. */
  close(): Promise<void>;
}

/** @throws ConfigError unless it is an http or https URL without a path. */
function readPublicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/u.test(url.protocol) && `${url.pathname}${url.search}` === "/") {
    return url.origin;
  }
  throw new ConfigError({
    message: `The public URL of the gateway is ${text}, which is not an http or https URL without a path.`,
    hint: "Give a URL such as http://host.docker.internal:8000; the gateway adds the paths.",
    fields: { option: "publicUrl", value: text },
  });
}

function checkHost(host: string, isTokenChosen: boolean, isOpen: boolean): void {
  if (isOpen && !isLoopback(host)) {
    throw new ConfigError({
      message: `The gateway would serve anyone who reaches ${host}, since it requires no tokens.`,
      hint: "Leave out --open (in code: open), or listen on 127.0.0.1.",
      fields: { option: "host", value: host },
    });
  }
  if (isTokenChosen || isLoopback(host)) return;
  throw new ConfigError({
    message: `The gateway would be open to other machines at ${host}, but its admin token was not chosen.`,
    hint: "Set an admin token, or listen on 127.0.0.1.",
    fields: { option: "host", value: host },
  });
}

/**
 * Creates a gateway: an OpenAI-compatible server that captures every call token by token. It serves
 * after `listen`, or through `fetch` without a socket. The caller closes it.
 *
 * @throws ConfigError for an option out of bounds.
 *
 * @example
 * await using gateway = createGateway({ target, model: "my-model" });
 * await gateway.listen();
 * const session = await gateway.sessions.open({ uid: "rollout-1", seed: 1, sampling: {} });
 * // ... an agent calls session.baseUrl with session.apiKey ...
 * const traces = await session.traces();
 */
export function createGateway(options: GatewayOptions): Gateway {
  const { model, store = createMemoryTraceStore() } = options;
  const { adminToken = createToken("admin"), onError = () => undefined } = options;
  const { onWarning = () => undefined } = options;
  const { sessionIdleMs } = options;
  const limits = checkLimits(options);
  checkAdminToken(adminToken);
  const report = (error: unknown): void => {
    const { status, code } = toApiError(error);
    if (status < 500 || code === "ABORTED") return;
    try {
      onError(error);
    } catch {
      // A listener that fails must not fail the response.
    }
  };
  const warn = (message: string): void => {
    try {
      onWarning(message);
    } catch {
      // As above.
    }
  };
  const gate = new CallGate();
  const target = openTarget(options.target, {
    model,
    gate,
    requestTimeoutMs: limits.requestTimeoutMs,
    ...defined({ promptLimit: options.promptLimit }),
    report,
  });
  const metrics: GatewayMetrics = new GatewayMetrics({
    sessions: () => sessions.size,
    callsInFlight: () => sessions.callsInFlight,
    callsWaiting: () => gate.waiting,
    storeStats: () => store.stats?.() ?? { commits: 0, commitSeconds: 0 },
  });
  const exchanges =
    options.exchanges === undefined ? undefined : new ExchangeRecorder(options.exchanges);
  const { maxSessions } = limits;
  const services = { store, metrics, maxSessions, sessionIdleMs, report };
  const sessions: SessionTable = new SessionTable(services);
  const app = createApp({
    ...limits,
    target,
    model,
    sessions,
    store,
    gate,
    bodyBudget: new BodyBudget(limits),
    metrics,
    ignored: new IgnoredFields(metrics, warn),
    ...(exchanges ? { exchanges, onBody: exchanges.onBody } : {}),
    adminDigest: tokenDigest(adminToken),
    isOpen: options.open === true,
    report,
  });
  let starting: Promise<Listening> | undefined;
  let server: Listening | undefined;
  let publicOrigin: string | undefined;
  let closing: Promise<void> | undefined;

  const origin = (): string => {
    if (server) return publicOrigin ?? server.url;
    throw new AgentTrainerError({
      code: "REQUEST_INVALID",
      message: "The gateway has no address yet, so a session would have no URL.",
      hint: "Await gateway.listen() before gateway.sessions.open().",
    });
  };
  const shutDown = async (): Promise<void> => {
    gate.pause("refuse");
    await sessions.suspendAll();
    await target[Symbol.asyncDispose]();
    await (await starting?.catch(() => undefined))?.close();
  };
  const close = (): Promise<void> => (closing ??= shutDown());

  return {
    adminToken,
    fetch: async (request) => toResponse(await app(request)),
    sessions: createSessionHost(sessions, model, origin, app),
    listen: async ({ host = "127.0.0.1", port = 0, publicUrl } = {}) => {
      if (starting || closing) {
        throw new ConfigError({
          message: closing ? "The gateway is closed." : "The gateway is listening already.",
          hint: "Call listen() once, or create another gateway.",
        });
      }
      checkHost(host, options.adminToken !== undefined, options.open === true);
      publicOrigin = publicUrl === undefined ? undefined : readPublicUrl(publicUrl);
      starting = serve(app, { ...limits, host, port });
      try {
        server = await starting;
      } catch (error) {
        starting = undefined;
        throw error;
      }
      return { url: origin(), port: server.port };
    },
    pause: (drainMs) => {
      gate.pause("hold");
      return waitUntilIdle(() => sessions.callsInFlight, drainMs);
    },
    resume: () => gate.resume(),
    setWeightVersion: (version) => {
      gate.weightVersion = version;
    },
    drain: (limitMs) => {
      gate.pause("refuse");
      return waitUntilIdle(() => sessions.callsInFlight, limitMs);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
