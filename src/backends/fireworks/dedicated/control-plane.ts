/** Routes of the control plane for dedicated trainers: shapes, trainer jobs, deployments. */
import { deleteResource } from "../api/delete-resource.ts";
import { FireworksError, wireError } from "../api/fireworks-error.ts";
import type { Json } from "../../../tinker-api/wire/transport.ts";
import type { FireworksHttp } from "../api/http.ts";

/** What a training shape fixes: hardware, context, and the shape of the deployment. */
export interface TrainingShape {
  /** Resource name of the version. */
  readonly name: string;
  readonly contextLength: number;
  readonly isLora: boolean;
  readonly acceleratorType: string;
  /** Of one trainer, over all of its nodes. */
  readonly accelerators: number;
  readonly deploymentShape: string;
}

export interface TrainerSpec {
  readonly id: string;
  readonly shape: string;
  readonly baseModel: string;
  readonly loraRank: number;
  readonly replicas: number;
  readonly region: string | null;
  readonly inactivityS: number;
}

export interface DeploymentSpec {
  readonly id: string;
  readonly baseModel: string;
  readonly shape: string;
  readonly replicas: number;
  readonly region: string | null;
  /** Resource name of the job whose snapshots it loads. */
  readonly trainer: string;
}

export class ControlPlane {
  readonly #http: FireworksHttp;
  readonly #account: string;

  constructor(http: FireworksHttp, account: string) {
    this.#http = http;
    this.#account = account;
  }

  trainerName(id: string): string {
    return `accounts/${this.#account}/rlorTrainerJobs/${id}`;
  }

  deploymentName(id: string): string {
    return `accounts/${this.#account}/deployments/${id}`;
  }

  /** @throws FireworksError when there is no validated version of it. */
  async shape(name: string, signal: AbortSignal): Promise<TrainingShape> {
    const parent = name.replace(/\/versions\/[^/]+$/u, "");
    const isPinned = parent !== name;
    const path = isPinned
      ? `/v1/${name}`
      : `/v1/${name}/versions?filter=${encodeURIComponent("latest_validated=true")}&pageSize=1`;
    const found = await this.#http.json({ method: "GET", path, signal });
    const version = isPinned ? found : (found["trainingShapeVersions"] as Json[] | undefined)?.[0];
    if (version === undefined)
      throw new FireworksError({
        message: `The training shape ${name} has no validated version.`,
        hint: "Choose another fireworks.training_shape.",
        fields: { shape: name },
      });
    return readShape(version, name);
  }

  /** Creates the job; one that is there already was created by an attempt whose response was lost. */
  async createTrainer(spec: TrainerSpec, signal: AbortSignal): Promise<void> {
    const query = `trainingShape=${encodeURIComponent(spec.shape)}&rlorTrainerJobId=${spec.id}`;
    await this.#create(`/v1/accounts/${this.#account}/rlorTrainerJobs?${query}`, signal, {
      serviceMode: true,
      keepAlive: false,
      dataset: "",
      trainingConfig: {
        baseModel: spec.baseModel,
        loraRank: spec.loraRank,
        // The rate is that of each optim_step.
        learningRate: 1e-5,
        ...(spec.region === null ? {} : { region: spec.region }),
      },
      trainerReplicaCount: spec.replicas,
      useReservation: true,
      displayName: spec.id,
      inactivityTimeout: `${spec.inactivityS}s`,
    });
  }

  async createDeployment(spec: DeploymentSpec, signal: AbortSignal): Promise<void> {
    await this.#create(
      `/v1/accounts/${this.#account}/deployments?deploymentId=${spec.id}`,
      signal,
      {
        baseModel: spec.baseModel,
        description: "Rollouts of agent-trainer",
        minReplicaCount: spec.replicas,
        maxReplicaCount: spec.replicas,
        enableHotLoad: true,
        forTraining: true,
        ...(spec.region === null ? {} : { placement: { region: spec.region } }),
        hotLoadBucketType: "FW_HOSTED",
        hotLoadTrainerJob: spec.trainer,
        // A completion ends with the weights that it began with.
        hotLoadTransitionType: "SYNC",
        deploymentShape: spec.shape,
      },
    );
  }

  async #create(path: string, signal: AbortSignal, json: object): Promise<void> {
    await this.#http.json({ method: "POST", path, json, signal }).catch((error: unknown) => {
      if (!(error instanceof FireworksError) || error.status !== 409) throw error;
    });
  }

  /** null when it is not there. */
  async get(name: string, signal: AbortSignal): Promise<Json | null> {
    return this.#http
      .json({ method: "GET", path: `/v1/${name}`, signal })
      .catch((error: unknown) => {
        if (error instanceof FireworksError && error.status === 404) return null;
        throw error;
      });
  }

  /** Whether the trainer behind the gateway responds. */
  async isHealthy(trainerPath: string, signal: AbortSignal): Promise<boolean> {
    const path = `${trainerPath}/api/v1/healthz`;
    const outcome = await this.#http.attempt({ method: "GET", path, timeoutMs: 5_000, signal });
    return outcome.kind === "ok";
  }

  /** @returns false when it may still be there, after a warning that says how to delete it. */
  async delete(name: string, kind: string): Promise<boolean> {
    return deleteResource(this.#http, name, kind);
  }
}

const count = (value: unknown): number => (typeof value === "number" && value > 0 ? value : 1);

function readShape({ name, snapshot }: Json, wanted: string): TrainingShape {
  const fields = (snapshot ?? {}) as Json;
  const text = (field: string): string => {
    const value = fields[field];
    if (typeof value === "string" && value !== "") return value;
    throw wireError(`The training shape ${wanted} has no ${field}.`);
  };
  const contextLength = fields["maxSupportedContextLength"];
  if (typeof name !== "string" || typeof contextLength !== "number" || contextLength < 2)
    throw wireError(`The training shape ${wanted} has no name or no maxSupportedContextLength.`);
  return {
    name,
    contextLength,
    isLora: fields["trainerMode"] === "LORA_TRAINER",
    acceleratorType: text("acceleratorType"),
    accelerators: count(fields["acceleratorCount"]) * count(fields["nodeCount"]),
    deploymentShape: text("deploymentShapeVersion"),
  };
}
