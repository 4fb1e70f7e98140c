/** HTTP workers over HTTP. The caller has checked the admin token. */
import { ApiError, badRequest } from "../../http/api-error.ts";
import { readJsonObject } from "../../http/body.ts";
import type { GatewayContext } from "../../gateway-context.ts";
import { readNumber, readString, show } from "../../http/json-fields.ts";
import type { WorkerAdmin } from "../../worker-admin.ts";
import { toWireWorker } from "../../http/wire.ts";
import { readQueryNumber, type OwnContext } from "./own-route.ts";

const defaultDrainMs = 30_000;

function requireWorkers({ workers }: GatewayContext): WorkerAdmin {
  if (workers) return workers;
  throw new ApiError({
    status: 501,
    message: "This gateway samples from a model in its own process, so it has no workers.",
    reason: "no_workers",
    retry: false,
  });
}

function noWorker(id: unknown): ApiError {
  return new ApiError({
    status: 404,
    message: `There is no worker ${show(id)}.`,
    reason: "worker_not_found",
  });
}

export function listWorkers({ gateway }: OwnContext): Response {
  return Response.json((gateway.workers?.list() ?? []).map(toWireWorker));
}

/** Of a model in this process: no workers, all of them well. */
export function showWorkerHealth({ gateway }: OwnContext): Response {
  const workers = gateway.workers?.list() ?? [];
  const healthy = workers.filter((worker) => worker.healthy).length;
  return Response.json({ workers: workers.map(toWireWorker), healthy, total: workers.length });
}

export async function addWorker({ gateway, request }: OwnContext): Promise<Response> {
  const body = await readJsonObject(request, gateway);
  const workers = requireWorkers(gateway);
  const url = readString(body, "url");
  if (url === undefined || !URL.canParse(url)) throw badRequest("url", "url is required.");
  const names = {
    id: readString(body, "worker_id"),
    apiPath: readString(body, "api_path"),
    modelName: readString(body, "model_name"),
    weight: readNumber(body, "weight", { min: 0, max: 1e6, aboveMin: true }),
    apiKey: readString(body, "api_key"),
    kind: readString(body, "kind"),
  };
  const given = Object.entries(names).filter(([, value]) => value !== undefined);
  const worker = await workers.add({ url, ...Object.fromEntries(given) });
  return Response.json(toWireWorker(worker));
}

/** @throws ApiError 404 */
export async function removeWorker({ gateway, params: [id] }: OwnContext): Promise<Response> {
  if (await requireWorkers(gateway).remove(id as string)) return Response.json({ removed: id });
  throw noWorker(id);
}

/** @throws ApiError 404 */
export async function drainWorker(context: OwnContext): Promise<Response> {
  const { gateway, request, params } = context;
  const bounds = { min: 0, max: gateway.requestTimeoutMs, integer: true };
  const limitMs = readQueryNumber(request, "timeout_ms", bounds) ?? defaultDrainMs;
  const [id] = params;
  const left = await requireWorkers(gateway).drain(id as string, limitMs);
  if (left === undefined) throw noWorker(id);
  return Response.json({ worker_id: id, status: "draining", active_requests: left });
}
