/** Pausing, weight versions and flushing over HTTP. The caller has checked the admin token. */
import { badRequest } from "../../http/api-error.ts";
import { readJsonObject } from "../../http/body.ts";
import { readNumber, readString, show } from "../../http/json-fields.ts";
import type { JsonFields } from "../../../util/json-object.ts";
import { waitUntilIdle } from "../../call/wait-until-idle.ts";
import type { OwnContext } from "./own-route.ts";

/** A body that may be absent. */
async function readOptional({ gateway, request }: OwnContext): Promise<JsonFields> {
  return request.body === null ? {} : readJsonObject(request, gateway);
}

export function showWeightVersion({ gateway }: OwnContext): Response {
  return Response.json({ weight_version: gateway.gate.weightVersion });
}

export async function setWeightVersion(context: OwnContext): Promise<Response> {
  const { gateway } = context;
  const body = await readJsonObject(context.request, gateway);
  const bounds = { min: 0, max: Number.MAX_SAFE_INTEGER, integer: true };
  const version = readNumber(body, "weight_version", bounds);
  if (version === undefined) throw badRequest("weight_version", "weight_version is required.");
  gateway.gate.weightVersion = version;
  return Response.json({ weight_version: version });
}

export async function flush({ gateway }: OwnContext): Promise<Response> {
  await gateway.store.flush();
  return Response.json({ status: "flushed" });
}

/** `drain_ms`: how long to wait for calls in flight. */
export async function pause(context: OwnContext): Promise<Response> {
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

export function resume({ gateway }: OwnContext): Response {
  const { waiting: released } = gateway.gate;
  gateway.gate.resume();
  return Response.json({ status: "running", released });
}
