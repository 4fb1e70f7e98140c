/** Sessions over HTTP, for trainers in other processes. The caller has checked the admin token. */
import { randomUUID } from "node:crypto";
import { ApiError, badRequest } from "../../http/api-error.ts";
import { readJsonObject } from "../../http/body.ts";
import { readArray, readNumber, readObject, readString, show } from "../../http/json-fields.ts";
import { sessionPath } from "../../http/path.ts";
import { deriveSeed } from "../../../util/random.ts";
import { toWireSession } from "../../http/wire.ts";
import { readSampling, samplingFieldNames } from "../fields/request-fields.ts";
import type { CaptureSession } from "../../session/session.ts";
import type { GatewayContext } from "../../gateway-context.ts";
import { limitBounds, readQueryNumber, sinceBounds, type OwnContext } from "./own-route.ts";

/** @throws ApiError 404 */
export function requireSession(gateway: GatewayContext, uid: string): CaptureSession {
  const session = gateway.sessions.get(uid);
  if (session && !session.closed) return session;
  throw new ApiError({
    status: 404,
    message: `There is no open session ${show(uid)}.`,
    reason: "session_not_found",
  });
}

/** What a proxy in front says of itself counts, since its address is the one that was reached. */
function originOf({ url, headers }: Request): string {
  const { protocol, host } = new URL(url);
  const said = (name: string): string => (headers.get(name) ?? "").split(",")[0]?.trim() ?? "";
  const scheme = said("x-forwarded-proto").toLowerCase();
  const origin = `${/^https?$/.test(scheme) ? `${scheme}:` : protocol}//`;
  const forwarded = said("x-forwarded-host");
  return origin + (/^[\w.:[\]-]+$/.test(forwarded) ? forwarded : host);
}

export async function openSession({ gateway, request }: OwnContext): Promise<Response> {
  const body = await readJsonObject(request, gateway);
  const uid = readString(body, "session_id") ?? randomUUID();
  const enforced = readObject(body, "sampling_params") ?? {};
  const unknown = Object.keys(enforced).find(
    (name) => !samplingFieldNames.some((known) => known === name),
  );
  if (unknown !== undefined) {
    throw badRequest(
      `sampling_params.${unknown}`,
      `sampling_params.${unknown} cannot be enforced. Known: ${samplingFieldNames.join(", ")}.`,
    );
  }
  const bounds = { min: 0, max: 2 ** 32 - 1, integer: true };
  // Without a seed, sessions of different uids must still sample differently.
  const seed = readNumber(body, "seed", bounds) ?? deriveSeed(0, uid);
  const metadata = readObject(body, "metadata");
  const sampling = readSampling(enforced);
  if (gateway.sessions.get(uid)) {
    throw new ApiError({
      status: 409,
      message: `A session with the id ${show(uid)} is already open.`,
      reason: "session_exists",
      param: "session_id",
      retry: false,
    });
  }
  const options = { uid, seed, sampling, ...(metadata ? { metadata } : {}) };
  const { apiKey } = await gateway.sessions.open(options);
  // The host that the caller reached us by is the one that its agents can use, too.
  const url = originOf(request) + sessionPath(uid);
  return Response.json(
    { session_id: uid, url, api_key: apiKey, model: gateway.model },
    { status: 201 },
  );
}

/** Newest first. */
export function listSessions({ gateway, request }: OwnContext): Response {
  const since = 1000 * (readQueryNumber(request, "since", sinceBounds) ?? 0);
  const limit = readQueryNumber(request, "limit", limitBounds) ?? Infinity;
  const sessions = gateway.sessions.all().filter((session) => session.createdAt >= since);
  return Response.json(sessions.toReversed().slice(0, limit).map(toWireSession));
}

export function showSession({ gateway, params: [uid] }: OwnContext): Response {
  return Response.json(toWireSession(requireSession(gateway, uid as string)));
}

async function forget(gateway: GatewayContext, uid: string): Promise<number> {
  const session = gateway.sessions.get(uid);
  if (!session) return gateway.store.deleteSession(uid);
  const { traceCount } = session;
  await gateway.sessions.close(session);
  return traceCount;
}

/** Also succeeds when the session is gone already, as a retry of the request would find it. */
export async function deleteSession({ gateway, params: [uid] }: OwnContext): Promise<Response> {
  return Response.json({ deleted: await forget(gateway, uid as string) });
}

/** @throws ApiError 400 */
export async function readSessionIds({ gateway, request }: OwnContext): Promise<{
  readonly uids: readonly string[];
  readonly body: Readonly<Record<string, unknown>>;
}> {
  const body = await readJsonObject(request, gateway);
  const uids = readArray(body, "session_ids");
  if (uids?.every((uid) => typeof uid === "string") === true) return { uids, body };
  throw badRequest("session_ids", "session_ids must be a list of strings.");
}

export async function deleteSessions(context: OwnContext): Promise<Response> {
  const { uids } = await readSessionIds(context);
  const counts = await Promise.all([...new Set(uids)].map((uid) => forget(context.gateway, uid)));
  return Response.json({ deleted: counts.reduce((sum, count) => sum + count, 0) });
}
