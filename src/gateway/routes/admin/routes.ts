/** The gateway's own paths: what each does, and which token it needs. */
import { methodNotAllowed, badRequest } from "../../http/api-error.ts";
import { requireToken } from "../../http/auth.ts";
import type { OwnContext, OwnHandler } from "./own-route.ts";
import {
  deleteSession,
  deleteSessions,
  listSessions,
  openSession,
  showSession,
} from "./sessions.ts";
import { listTraces, queryTraces, showTrace } from "./traces.ts";
import { readJsonObject } from "../../http/body.ts";
import { readNumber, readString, show } from "../../http/json-fields.ts";
import type { JsonFields } from "../../../util/json-object.ts";
import { waitUntilIdle } from "../../call/wait-until-idle.ts";

/** A body that may be absent. */
async function readOptional({ gateway, request }: OwnContext): Promise<JsonFields> {
  return request.body === null ? {} : readJsonObject(request, gateway);
}

/** Pausing, weight versions and flushing over HTTP. The caller has checked the admin token. */
function showWeightVersion({ gateway }: OwnContext): Response {
  return Response.json({ weight_version: gateway.gate.weightVersion });
}

async function setWeightVersion(context: OwnContext): Promise<Response> {
  const { gateway } = context;
  const body = await readJsonObject(context.request, gateway);
  const bounds = { min: 0, max: Number.MAX_SAFE_INTEGER, integer: true };
  const version = readNumber(body, "weight_version", bounds);
  if (version === undefined) throw badRequest("weight_version", "weight_version is required.");
  gateway.gate.weightVersion = version;
  return Response.json({ weight_version: version });
}

async function flush({ gateway }: OwnContext): Promise<Response> {
  await gateway.store.flush();
  return Response.json({ status: "flushed" });
}

/** `drain_ms`: how long to wait for calls in flight. */
async function pause(context: OwnContext): Promise<Response> {
  const { gateway } = context;
  const body = await readOptional(context);
  const mode = readString(body, "mode") ?? "hold";
  if (mode !== "hold" && mode !== "refuse") {
    throw badRequest("mode", `mode must be "hold" or "refuse", but it is ${show(mode)}.`);
  }
  const bounds = { min: 0, max: gateway.requestTimeoutMs, integer: true };
  const drainMs = readNumber(body, "drain_ms", bounds) ?? 0;
  gateway.gate.pause(mode);
  const left = await waitUntilIdle(() => gateway.sessions.callsInFlight, drainMs);
  return Response.json({ status: "paused", mode, in_flight: left });
}

function resume({ gateway }: OwnContext): Response {
  const { waiting: released } = gateway.gate;
  gateway.gate.resume();
  return Response.json({ status: "running", released });
}

interface OwnRouteEntry {
  /** Segments; `*` matches any one. Earlier entries win. */
  readonly path: string;
  readonly isOpen?: boolean;
  readonly methods: Readonly<Record<string, OwnHandler>>;
}

export const ownRoutes: readonly OwnRouteEntry[] = [
  { path: "health", isOpen: true, methods: { GET: () => Response.json({ status: "ok" }) } },
  { path: "metrics", methods: { GET: showMetrics } },
  { path: "sessions", methods: { GET: listSessions, POST: openSession } },
  { path: "sessions/batch_delete", methods: { POST: deleteSessions } },
  { path: "sessions/*", methods: { GET: showSession, DELETE: deleteSession } },
  { path: "sessions/*/traces", methods: { GET: listTraces } },
  { path: "traces/query", methods: { POST: queryTraces } },
  { path: "traces/*", methods: { GET: showTrace } },
  { path: "admin/weight_version", methods: { GET: showWeightVersion, POST: setWeightVersion } },
  { path: "admin/flush", methods: { POST: flush } },
  { path: "admin/pause", methods: { POST: pause } },
  { path: "admin/resume", methods: { POST: resume } },
  { path: "admin/reload", methods: { POST: () => Response.json({ status: "ok" }) } },
];

const routes = ownRoutes.map((entry) => ({ ...entry, pattern: entry.path.split("/") }));

async function showMetrics({ gateway }: OwnContext): Promise<Response> {
  const headers = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };
  return new Response(await gateway.metrics.text(), { headers });
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((part, i) => part === "*" || part === segments[i])
  );
}

/**
 * Undefined when there is no such path. Tokens are checked before methods, so that only admins can distinguish
 * routes apart.
 * @throws ApiError 401, 405 and what the route throws.
 */
export function handleOwn(
  context: Omit<OwnContext, "params">,
  segments: readonly string[],
): Promise<Response> | Response | undefined {
  const found = routes.filter(({ pattern }) => matches(pattern, segments));
  const [first] = found;
  if (!first) return undefined;
  const { gateway, request } = context;
  if (first.isOpen !== true && !gateway.isOpen) requireToken(request, gateway.adminDigest);
  // A session may be called "batch_delete": each method belongs to the first entry that has it.
  const match = found.find(({ methods }) => Object.hasOwn(methods, request.method));
  if (match) {
    const params = segments.filter((_, i) => match.pattern[i] === "*");
    return (match.methods[request.method] as OwnHandler)({ ...context, params });
  }
  const allowed = found.flatMap(({ methods }) => Object.keys(methods)).join(" or ");
  throw methodNotAllowed(request, allowed);
}
