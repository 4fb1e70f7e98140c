/** Asks a Tinker server what it does, probe by probe, with a separate model that is thrown away. */
import { createTinkerClient, type TinkerClient } from "../../tinker-api/client.ts";
import type { TinkerClientOptions } from "../../tinker-api/client-options.ts";
import type { ServerModel } from "../../tinker-api/rest-client.ts";
import { TinkerError, TinkerUnreachableError } from "../../tinker-api/tinker-error.ts";
import { ask, type Finding, type Probe, type ProbeContext, no, unknown, yes } from "./finding.ts";
import { lossProbes } from "./probe-losses.ts";
import { optimizerProbes } from "./probe-optimizer.ts";
import { samplingProbes } from "./probe-sampling.ts";
import { snapshotProbes } from "./probe-snapshots.ts";

/** Routes of the Tinker API that change nothing: which of them a server has. */
const routes: readonly (readonly ["GET" | "POST", string, object?])[] = [
  ["GET", "healthz"],
  ["GET", "get_server_capabilities"],
  ["POST", "client/config", { sdk_version: "0.38.0" }],
  ["POST", "client/dynamic_config", { sdk_version: "0.38.0" }],
  ["GET", "training_runs?limit=1"],
  ["GET", "checkpoints?limit=1"],
  ["GET", "sessions?limit=1"],
];

const routeProbes: readonly Probe[] = routes.map(([method, route, body]) => ({
  topic: "routes",
  name: `${method} ${route.replace(/\?.*$/u, "")}`,
  async ask({ statusOf }) {
    const status = await statusOf(method, route, body);
    if (status >= 200 && status < 300) return yes(`status ${status}`);
    return [404, 405, 501].includes(status) ? no(`status ${status}`) : unknown(`status ${status}`);
  },
}));

export interface ServiceReport {
  readonly url: string;
  readonly models: readonly ServerModel[];
  /** The one that was asked. */
  readonly baseModel: string;
  readonly findings: readonly Finding[];
}

export interface InspectOptions {
  readonly client: TinkerClientOptions;
  /** @default the first that the server names */
  readonly baseModel?: string;
  /** Of the adapter. */
  readonly rank: number;
  readonly signal: AbortSignal;
  /** Names of the probes to run. @default all */
  readonly only?: readonly string[];
  readonly onProbe?: (done: number, of: number, finding: Finding) => void;
}

/** Of a probe. A first request may compile or load a model. */
const probeMs = 300_000;
const statusMs = 20_000;

const allProbes: readonly Probe[] = [
  ...routeProbes,
  ...lossProbes,
  ...optimizerProbes,
  ...samplingProbes,
  // Last: they move the weights far.
  ...snapshotProbes,
];

/** @throws TinkerError when there is no such server, or it trains nothing. */
export async function inspectService(options: InspectOptions): Promise<ServiceReport> {
  const { signal, rank, onProbe } = options;
  await checkReachable(options.client);
  await using client = await createTinkerClient({
    patienceMs: 60_000,
    deadlineMs: probeMs,
    ...options.client,
  });
  const models = await client.rest.models();
  const baseModel = options.baseModel ?? models.find(({ name }) => name !== null)?.name;
  if (baseModel === undefined || baseModel === null)
    throw new TinkerError({
      message: `The server at ${client.baseUrl} names no model.`,
      hint: "Name one with --model.",
    });
  const model = await client.createModel({ baseModel, rank, seed: 1, signal });
  const statusOf = statusReader(client, options.client);
  const context: ProbeContext = { client, model, baseModel, signal, statusOf };
  const { only } = options;
  const probes = allProbes.filter(({ name }) => only === undefined || only.includes(name));
  const findings: Finding[] = [];
  try {
    for (const probe of probes) {
      const finding = await ask(probe, context);
      findings.push(finding);
      onProbe?.(findings.length, probes.length, finding);
    }
  } finally {
    await model.unload({ signal: AbortSignal.timeout(statusMs) }).catch(() => undefined);
  }
  return { url: client.baseUrl, models, baseModel, findings };
}

/** Without the patience of a client, which retries for a minute. */
async function checkReachable({ baseUrl, fetch = globalThis.fetch }: TinkerClientOptions) {
  if (baseUrl === undefined) return;
  const url = `${baseUrl.replace(/\/+$/u, "")}/api/v1/healthz`;
  try {
    await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(statusMs) });
  } catch (cause) {
    throw new TinkerUnreachableError({ request: "GET /api/v1/healthz" }, baseUrl, 1, cause);
  }
}

function statusReader(
  { baseUrl }: TinkerClient,
  { apiKey, fetch = globalThis.fetch }: TinkerClientOptions,
): ProbeContext["statusOf"] {
  return async (method, route, body) => {
    const response = await fetch(`${baseUrl}/api/v1/${route}`, {
      method,
      headers: {
        "x-api-key": apiKey ?? process.env["TINKER_API_KEY"] ?? "",
        "content-type": "application/json",
      },
      redirect: "manual",
      signal: AbortSignal.timeout(statusMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    await response.arrayBuffer();
    return response.status;
  };
}
