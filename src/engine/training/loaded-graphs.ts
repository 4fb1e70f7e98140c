/** The graphs of one policy that are loaded in the runtime, each with the weights that it runs with. */
import { ConfigError } from "../../core/errors.ts";
import type { LossSpec } from "../../core/loss/loss.ts";
import type { HeadQuantity } from "../graph/chunked-head.ts";
import { objectiveKey } from "../loss/objective.ts";
import { feedParameters, type PolicyModel } from "../model/policy-model.ts";
import { operatorsFor, type Provider } from "../provider.ts";
import { createSession, type Session, type Tensor } from "../runtime.ts";
import { buildTrainingGraph, type TrainingGraphOptions } from "./training-graph.ts";

/** The weights being trained, or those of the reference model of a penalty. */
export type WhichWeights = "current" | "reference";

export interface LoadedGraphsOptions {
  readonly threads: number;
  /** @default "cpu" */
  readonly provider?: Provider;
  /** Weights of the reference where there is no adapter to disable. @default refused */
  readonly loadReference?: () => Promise<PolicyModel>;
}

/** Outputs by name, for inputs that are not parameters. */
export type RunGraph = (
  inputs: Readonly<Record<string, Tensor>>,
) => Promise<Readonly<Record<string, Float32Array>>>;

interface LoadedGraph {
  readonly session: Session;
  readonly run: RunGraph;
}

/** One that keeps layers' activations and one that recomputes them, or two alternating losses. */
const maxGradientGraphs = 2;

export class LoadedGraphs {
  readonly #policy: PolicyModel;
  readonly #options: LoadedGraphsOptions;
  readonly #loaded = new Map<string, Promise<LoadedGraph>>();
  #reference: Promise<PolicyModel> | undefined;
  /** Keys of the gradient graphs that are loaded, the latest last. */
  #recent: readonly string[] = [];

  constructor(policy: PolicyModel, options: LoadedGraphsOptions) {
    this.#policy = policy;
    this.#options = options;
  }

  /** Log-probabilities only, or entropies only. */
  async forward(
    which: WhichWeights,
    { tempered = false, biased = false }: Pick<TrainingGraphOptions, "tempered" | "biased">,
    quantity: HeadQuantity = "logprob",
  ): Promise<RunGraph> {
    if (which === "reference") {
      this.#reference ??= referenceOf(this.#policy, this.#options.loadReference);
    }
    const policy = which === "reference" ? await this.#reference! : this.#policy;
    const key = `${which} ${quantity} ${tempered} ${biased}`;
    const options = { loss: null, quantity, checkpointed: false, tempered, biased };
    return (await this.#graph(key, policy, options)).run;
  }

  /** A loss with its gradients. */
  async gradient(
    loss: LossSpec,
    shape: Pick<TrainingGraphOptions, "checkpointed" | "tempered" | "biased">,
  ): Promise<RunGraph> {
    const { checkpointed, tempered = false, biased = false } = shape;
    const key = `${objectiveKey(loss)} ${checkpointed} ${tempered} ${biased}`;
    await this.#makeRoom(key);
    return (await this.#graph(key, this.#policy, { loss, checkpointed, tempered, biased })).run;
  }

  /** The session of gradient graph `key`: each keeps the memory of its largest batch. */
  async #makeRoom(key: string): Promise<void> {
    const others = this.#recent.filter((other) => other !== key);
    this.#recent = [...others.slice(1 - maxGradientGraphs), key];
    for (const old of others.slice(0, 1 - maxGradientGraphs)) {
      const graph = await this.#loaded.get(old);
      this.#loaded.delete(old);
      await graph?.session.close();
    }
  }

  #graph(key: string, policy: PolicyModel, options: TrainingGraphOptions): Promise<LoadedGraph> {
    let loaded = this.#loaded.get(key);
    if (loaded === undefined) {
      const { provider = "cpu" } = this.#options;
      const operators = operatorsFor(provider);
      const { model, fed } = buildTrainingGraph(policy, { ...options, operators });
      const folder = policy.mappedFolder;
      loaded = createSession(model, {
        threads: this.#options.threads,
        // Products of hundreds of rows gain nothing from it, and it copies every weight twice.
        prepack: false,
        provider,
        cpuFallback: true,
        ...(folder === null ? {} : { externalFolder: folder }),
      }).then((session) => ({
        session,
        run: (inputs) => session.run({ ...inputs, ...feedParameters(policy, fed) }),
      }));
      this.#loaded.set(key, loaded);
    }
    return loaded;
  }

  async close(): Promise<void> {
    const graphs = await Promise.all(this.#loaded.values());
    await Promise.all(graphs.map(({ session }) => session.close()));
  }
}

/** A model without its adapter is the reference; without an adapter the initial weights are needed. */
async function referenceOf(
  policy: PolicyModel,
  load: LoadedGraphsOptions["loadReference"],
): Promise<PolicyModel> {
  if (policy.lora !== null) return { ...policy, lora: null, loraParameters: [], trained: [] };
  if (load !== undefined) return load();
  throw new ConfigError({
    message:
      "A KL penalty needs a reference, but every weight is trained and no model folder is known.",
    hint: "Train a LoRA adapter, or give the engine the folder of the model.",
  });
}
