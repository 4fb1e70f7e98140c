/** Sessions over HTTP, for trainers in other processes. The caller has checked the admin token. */
import { randomUUID } from "node:crypto";
import { ApiError, badRequest } from "../api-error.ts";
import { readJsonObject } from "../body.ts";
import type { GatewayContext } from "../gateway-context.ts";
import { readNumber, readObject, readString, show } from "../json-fields.ts";
import { sessionPath } from "../path.ts";
import { deriveSeed } from "../../util/random.ts";
import { toWireTrace } from "../wire.ts";
import { readSampling, samplingFieldNames } from "./sampling-fields.ts";

export async function openSession(gateway: GatewayContext, request: Request): Promise<Response> {
  const body = await readJsonObject(request, gateway.maxBodyBytes);
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
  // Without a seed, sessions of different uids must still draw differently.
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
  const session = gateway.sessions.open({ uid, seed, sampling, ...(metadata ? { metadata } : {}) });
  // The host that the caller reached us by is the one that its agents can use, too.
  const url = new URL(request.url).origin + sessionPath(uid);
  return Response.json(
    { session_id: uid, url, api_key: session.apiKey, model: gateway.model },
    { status: 201 },
  );
}

export async function listTraces(gateway: GatewayContext, sessionUid: string): Promise<Response> {
  const session = gateway.sessions.get(sessionUid);
  if (!session) {
    throw new ApiError({
      status: 404,
      message: `There is no open session ${show(sessionUid)}.`,
      reason: "session_not_found",
    });
  }
  return Response.json((await session.traces()).map(toWireTrace));
}

/** Also succeeds when the session is gone already, as a retry of the request would find it. */
export async function deleteSession(
  gateway: GatewayContext,
  sessionUid: string,
): Promise<Response> {
  const session = gateway.sessions.get(sessionUid);
  if (session) await gateway.sessions.close(session);
  return Response.json({ deleted: session !== undefined });
}
