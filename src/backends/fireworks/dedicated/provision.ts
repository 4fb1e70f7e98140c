/**
 * Creates a trainer job and a deployment for one run, and deletes them again. Their names are chosen here
 * and noted before they are created, so that nothing is lost with a response.
 */
import { randomBytes } from "node:crypto";
import { ConfigError } from "../../../core/errors.ts";
import { gpuHourPrices } from "../../../core/prices.ts";
import { FireworksHttp } from "../api/http.ts";
import { openSession, type FireworksClient } from "../api/client.ts";
import type { ResourceLedger, HeldResource } from "../resource-ledger.ts";
import { ControlPlane, type TrainingShape } from "./control-plane.ts";
import type { DedicatedOptions } from "./dedicated-options.ts";
import { waitForDeployment, waitForTrainer, type WaitOptions } from "./wait-ready.ts";
import { WeightSync } from "./weight-sync.ts";

export interface DedicatedRun {
  readonly client: FireworksClient;
  readonly contextLength: number;
  readonly sync: WeightSync;
  /** Of trainer and deployment; null where a price or the hardware is not known. */
  readonly usdPerHour: number | null;
  /** Id of the trainer job. */
  readonly trainerId: string;
  readonly resources: DedicatedResources;
}

export interface ProvisionContext {
  readonly http: FireworksHttp;
  readonly account: string;
  readonly ledger: ResourceLedger;
  readonly baseModel: string;
  /** 0 trains every weight. */
  readonly loraRank: number;
  /** What the run wants; null is what the shape has. */
  readonly contextLength: number | null;
  readonly signal: AbortSignal;
  readonly onProgress: (message: string) => void;
}

/** What was created, until it is deleted: the deployment first, since it loads from the trainer. */
class DedicatedResources {
  readonly #plane: ControlPlane;
  readonly #ledger: ResourceLedger;
  readonly #held: HeldResource[] = [];

  constructor(plane: ControlPlane, ledger: ResourceLedger) {
    this.#plane = plane;
    this.#ledger = ledger;
  }

  hold(resource: HeldResource): void {
    this.#held.unshift(resource);
    this.#ledger.add(resource);
  }

  /** @returns names of what may still be there. */
  async delete(): Promise<readonly string[]> {
    const left: string[] = [];
    for (const resource of this.#held.splice(0)) {
      if (await this.#plane.delete(resource.name, resource.kind)) this.#ledger.remove(resource);
      else left.push(resource.name.replace(/\?.*$/u, ""));
    }
    return left;
  }
}

/** @throws what went wrong, after everything that had been created was deleted. */
export async function provision(
  options: DedicatedOptions,
  context: ProvisionContext,
  onLeft: (names: readonly string[]) => void,
): Promise<DedicatedRun> {
  const plane = new ControlPlane(context.http, context.account);
  const shape = await plane.shape(options.trainingShape, context.signal);
  checkShape(shape, options, context);
  const resources = new DedicatedResources(plane, context.ledger);
  try {
    return await create(options, context, { plane, shape, resources });
  } catch (error) {
    onLeft(await resources.delete());
    throw error;
  }
}

interface Parts {
  readonly plane: ControlPlane;
  readonly shape: TrainingShape;
  readonly resources: DedicatedResources;
}

async function create(
  options: DedicatedOptions,
  context: ProvisionContext,
  { plane, shape, resources }: Parts,
): Promise<DedicatedRun> {
  const { http, account, baseModel, loraRank, signal, onProgress } = context;
  const { region = null, deploymentReplicas = 1, trainerReplicas = 1 } = options;
  const id = `agent-trainer-${randomBytes(6).toString("hex")}`;
  const trainer = plane.trainerName(id);
  const deployment = plane.deploymentName(id);
  const rate = hourlyRate(options, shape);
  onProgress(
    `Creating the trainer ${trainer} (${trainerReplicas} × ${shape.accelerators} ${shape.acceleratorType}${rate === null ? "" : `, $${(rate * trainerReplicas * shape.accelerators).toFixed(2)} per hour`}) and the deployment ${deployment} (${deploymentReplicas} replicas of ${shape.deploymentShape}).`,
  );
  const waiting: WaitOptions = {
    http,
    plane,
    signal,
    onProgress,
    capacityMs: options.capacityTimeoutMs ?? 172_800_000,
    readyMs: options.readyTimeoutMs ?? 3_600_000,
  };
  resources.hold({ kind: "trainer", name: trainer });
  const inactivityS = options.inactivityS ?? 3600;
  await plane.createTrainer(
    { id, shape: shape.name, baseModel, loraRank, replicas: trainerReplicas, region, inactivityS },
    signal,
  );
  const path = `/training/v1/rlorTrainerJobs/${account}/${id}`;
  await waitForTrainer(trainer, path, waiting);
  resources.hold({ kind: "deployment", name: `${deployment}?ignoreChecks=true&hard=true` });
  await plane.createDeployment(
    { id, baseModel, shape: shape.deploymentShape, replicas: deploymentReplicas, region, trainer },
    signal,
  );
  const serving = await waitForDeployment(deployment, waiting);
  const usdPerHour = totalRate(options, { shape, serving, trainerReplicas, deploymentReplicas });
  if (usdPerHour === null && options.requiresPrice === true)
    throw new ConfigError({
      message: `budget.usd cannot be kept: the service does not say which accelerators the deployment ${deployment} has, or no price is known for them.`,
      hint: "Set budget.prices.gpu_hour, or use budget.tokens.",
      fields: { deployment, serving },
    });
  const own = new FireworksHttp(http.settings, {
    training: path,
    completions: "/inference/v1/completions",
  });
  const client = await openSession({ http: own, account, deployment });
  const timeoutMs = options.weightSyncTimeoutMs ?? 600_000;
  const sync = new WeightSync({ http: own, deployment, baseModel, timeoutMs });
  const { contextLength } = shape;
  return { client, contextLength, sync, usdPerHour, trainerId: id, resources };
}

/** USD per hour of one accelerator of a kind; null where it is not known. */
function gpuRate({ gpuHourUsd }: DedicatedOptions, type: string): number | null {
  return gpuHourUsd ?? gpuHourPrices.usd[type] ?? null;
}

const hourlyRate = (options: DedicatedOptions, { acceleratorType }: TrainingShape): number | null =>
  gpuRate(options, acceleratorType);

interface Hardware {
  readonly shape: TrainingShape;
  /** The deployment as the control plane shows it. */
  readonly serving: Readonly<Record<string, unknown>>;
  readonly trainerReplicas: number;
  readonly deploymentReplicas: number;
}

function totalRate(
  options: DedicatedOptions,
  { shape, serving, trainerReplicas, deploymentReplicas }: Hardware,
): number | null {
  const { acceleratorType: type, acceleratorCount: count } = serving;
  if (typeof type !== "string" || typeof count !== "number") return null;
  const [training, sampling] = [gpuRate(options, shape.acceleratorType), gpuRate(options, type)];
  if (training === null || sampling === null) return null;
  return training * shape.accelerators * trainerReplicas + sampling * count * deploymentReplicas;
}

function checkShape(
  shape: TrainingShape,
  options: DedicatedOptions,
  { loraRank, contextLength }: Pick<ProvisionContext, "loraRank" | "contextLength">,
): void {
  const { trainingShape, requiresPrice } = options;
  if (shape.isLora !== loraRank > 0)
    throw new ConfigError({
      message: `The training shape ${trainingShape} ${shape.isLora ? "trains LoRA adapters" : "trains every weight"}, but model.lora_rank is ${loraRank}.`,
      hint: shape.isLora ? "Set model.lora_rank to at least 1." : "Set model.lora_rank=0.",
      fields: { trainingShape, loraRank },
    });
  if (contextLength !== null && contextLength > shape.contextLength)
    throw new ConfigError({
      message: `fireworks.context_length is ${contextLength}, but the training shape ${trainingShape} has ${shape.contextLength} tokens.`,
      fields: { contextLength, most: shape.contextLength },
    });
  if (requiresPrice === true && hourlyRate(options, shape) === null)
    throw new ConfigError({
      message: `budget.usd cannot be kept: no price is known for ${shape.acceleratorType}.`,
      hint: "Set budget.prices.gpu_hour, or use budget.tokens.",
      fields: { trainingShape, acceleratorType: shape.acceleratorType },
    });
}
