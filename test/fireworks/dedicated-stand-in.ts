/**
 * Dedicated trainers of Fireworks as the documents describe them, in this process: shapes, trainer jobs
 * and deployments that take their time, weight sync by snapshot. Training itself is that of the serverless
 * stand-in, behind the job's path.
 */
import {
  fail,
  FireworksStandIn,
  type Fault,
  type SeenRequest,
  type StandInOptions,
} from "./stand-in.ts";

type Json = Record<string, unknown>;

/** How many polls each takes. */
export interface Slowness {
  readonly pending: number;
  readonly starting: number;
  readonly deployment: number;
  readonly load: number;
}

interface Job {
  readonly body: Json;
  readonly query: URLSearchParams;
  polls: number;
}

interface Deployment {
  readonly body: Json;
  polls: number;
  /** Name of the snapshot that is served. */
  served: string | null;
  loading: { readonly identity: string; polls: number } | null;
}

export interface DedicatedStandInOptions extends StandInOptions {
  readonly slow?: Partial<Slowness>;
  readonly trainerMode?: string;
  readonly acceleratorType?: string;
  /** State that a job has in the end. @default JOB_STATE_RUNNING */
  readonly finalJobState?: string;
  /** @default READY */
  readonly finalDeploymentState?: string;
  /** Loads end in an error. */
  readonly failsToLoad?: boolean;
  /** The body field that an older server refuses. */
  readonly refusesPromptCache?: boolean;
  /** What a deployment says about its hardware. */
  readonly hardware?: Json;
}

export class DedicatedStandIn {
  readonly inner: FireworksStandIn;
  readonly requests: SeenRequest[] = [];
  readonly jobs = new Map<string, Job>();
  readonly deployments = new Map<string, Deployment>();
  /** Every job and deployment that was ever created. */
  readonly created: string[] = [];
  readonly deleted: string[] = [];
  readonly loads: string[] = [];
  readonly promoted: Json[] = [];
  fault: (request: SeenRequest) => Fault;
  readonly #options: DedicatedStandInOptions;
  readonly #slow: Slowness;

  constructor(options: DedicatedStandInOptions = {}) {
    this.#options = options;
    this.inner = new FireworksStandIn({ polls: 0, ...options });
    this.inner.fault = () => null;
    this.fault = options.fault ?? (() => null);
    this.#slow = { pending: 1, starting: 1, deployment: 1, load: 1, ...options.slow };
  }

  readonly fetch = async (input: string, init: RequestInit): Promise<Response> => {
    const url = new URL(input);
    const text = typeof init.body === "string" ? init.body : null;
    const request: SeenRequest = {
      method: init.method ?? "GET",
      path: url.pathname + url.search,
      headers: new Headers(init.headers),
      body: text === null ? null : (JSON.parse(text) as Json),
    };
    await Promise.resolve();
    init.signal?.throwIfAborted();
    this.requests.push(request);
    const fault = this.fault(request);
    if (fault === "refused") throw new TypeError("fetch failed");
    if (fault instanceof Response) return fault;
    const response = await this.#respond(request, url, init);
    if (fault === "lost") throw new TypeError("fetch failed");
    return response;
  };

  async #respond(request: SeenRequest, url: URL, init: RequestInit): Promise<Response> {
    const { method, body } = request;
    const path = url.pathname;
    if (path.endsWith("/versions")) return this.#shapes();
    if (path === "/hot_load/v1/models/hot_load") return this.#hotLoad(request);
    if (path === "/inference/v1/completions") return this.#complete(body!, init);
    if (path.endsWith(":promote")) {
      this.promoted.push(body!);
      return Response.json({ operation: { name: "operations/1" } });
    }
    if (path === "/v1/operations/1") return Response.json({ done: true });
    const named = /^\/v1\/accounts\/demo\/(rlorTrainerJobs|deployments)(?:\/([\w-]+))?$/u.exec(
      path,
    );
    if (named !== null) return this.#resource(method, named[1]!, named[2], url, body);
    const trained = /^\/training\/v1\/rlorTrainerJobs\/demo\/([\w-]+)\/api\/v1\/(\w+)$/u.exec(path);
    if (trained === null) return this.inner.fetch(url.href, init);
    const [, id = "", route = ""] = trained;
    if (!this.jobs.has(id)) return fail(404, { error: { message: "no such trainer" } });
    if (route === "healthz") return Response.json({ status: "ok" });
    return this.inner.fetch(`${url.origin}/training/v1/serverless/api/v1/${route}`, init);
  }

  #shapes(): Response {
    const { trainerMode = "LORA_TRAINER", acceleratorType = "NVIDIA_H200_141GB" } = this.#options;
    const snapshot = {
      maxSupportedContextLength: 512,
      nodeCount: 2,
      acceleratorCount: 4,
      acceleratorType,
      deploymentShapeVersion: "accounts/fireworks/deploymentShapes/toy/versions/1",
      trainerMode,
    };
    const name = "accounts/fireworks/trainingShapes/toy/versions/7";
    return Response.json({ trainingShapeVersions: [{ name, snapshot }] });
  }

  #resource(
    method: string,
    kind: string,
    id: string | undefined,
    url: URL,
    body: Json | null,
  ): Response {
    const all: Map<string, Job | Deployment> =
      kind === "deployments" ? this.deployments : this.jobs;
    if (method === "POST") {
      const key = kind === "deployments" ? "deploymentId" : "rlorTrainerJobId";
      const made = url.searchParams.get(key)!;
      if (all.has(made)) return fail(409, { code: 6, message: "already exists" });
      this.created.push(`${kind}/${made}`);
      if (kind === "deployments")
        this.deployments.set(made, { body: body!, polls: 0, served: null, loading: null });
      else this.jobs.set(made, { body: body!, query: url.searchParams, polls: 0 });
      return Response.json({ name: `accounts/demo/${kind}/${made}`, state: "CREATING" });
    }
    const found = all.get(id!);
    if (found === undefined) return fail(404, { code: 5, message: "not found" });
    if (method === "DELETE") {
      all.delete(id!);
      this.deleted.push(`${kind}/${id}`);
      if (kind !== "deployments") this.inner.sessions.clear();
      return Response.json({});
    }
    found.polls += 1;
    const name = `accounts/demo/${kind}/${id}`;
    return Response.json({
      name,
      ...this.#options.hardware,
      state: this.#stateOf(kind, found.polls),
    });
  }

  #stateOf(kind: string, polls: number): string {
    const { pending, starting, deployment } = this.#slow;
    const { finalJobState, finalDeploymentState } = this.#options;
    if (kind === "deployments")
      return polls > deployment ? (finalDeploymentState ?? "READY") : "CREATING";
    if (polls <= pending) return "JOB_STATE_PENDING";
    if (polls <= pending + starting) return "JOB_STATE_CREATING";
    return finalJobState ?? "JOB_STATE_RUNNING";
  }

  #hotLoad({ method, headers, body }: SeenRequest): Response {
    const id = headers.get("fireworks-deployment")!.split("/").at(-1)!;
    const deployment = this.deployments.get(id);
    if (deployment === undefined) return fail(404, { error: { message: "no such deployment" } });
    if (method === "POST") {
      const { identity, reset_prompt_cache: resets } = body as { identity: string } & Json;
      if (this.#options.refusesPromptCache === true && resets !== undefined)
        return fail(422, { detail: "extra field: reset_prompt_cache" });
      const isSaved = [...this.inner.snapshots.keys()].some((path) =>
        path.endsWith(`/${identity}`),
      );
      if (!isSaved) return fail(400, { error: { message: `no snapshot ${identity}` } });
      this.loads.push(identity);
      deployment.loading = { identity, polls: 0 };
      return Response.json({});
    }
    const { loading } = deployment;
    const isDone = loading !== null && loading.polls++ >= this.#slow.load;
    if (isDone && this.#options.failsToLoad !== true) deployment.served = loading.identity;
    const stage = isDone && this.#options.failsToLoad === true ? "error" : "loading";
    return Response.json({
      replicas: [
        {
          readiness: deployment.served !== null,
          current_snapshot_identity: deployment.served,
          loading_state: { stage, target_snapshot_identity: loading?.identity ?? null },
          loaded_adapters: [],
        },
      ],
    });
  }

  /** From the snapshot that is served, by the model that serverless training would name. */
  async #complete(body: Json, init: RequestInit): Promise<Response> {
    const id = String(body["model"]).split("/").at(-1)!;
    const served = this.deployments.get(id)?.served;
    const path = [...this.inner.snapshots.keys()].find((one) => one.endsWith(`/${served}`));
    const [session] = this.inner.sessions;
    if (path === undefined) return fail(404, { error: { message: "no weights are loaded" } });
    const model = `accounts/demo/trainingSessions/${session}/checkpoints/${path}`;
    return this.inner.fetch(
      "http://fireworks.test/training/v1/serverless/inference/v1/completions",
      {
        ...init,
        body: JSON.stringify({ ...body, model }),
      },
    );
  }
}
