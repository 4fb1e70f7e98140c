/**
 * Gradients and optimizer steps on one policy. Rows with weights and a loss name go in; it knows
 * nothing of rewards, episodes or how advantages came about.
 */
import { NumericsError } from "../../core/errors.ts";
import type { LossSpec, OptimSpec } from "../../core/loss.ts";
import type { TrainingRow } from "../../core/training-row.ts";
import { feedParameters } from "../model/policy-model.ts";
import type { PolicyModel } from "../model/policy-model.ts";
import { adamStep, createAdamState } from "../optimizer/adamw.ts";
import type { AdamState } from "../optimizer/adamw.ts";
import { createSession } from "../runtime.ts";
import type { Session, Tensor } from "../runtime.ts";
import { makeMicroBatches } from "./batch.ts";
import { rowsPerBatch } from "./memory.ts";
import { RatioStatistics } from "./ratio-statistics.ts";
import { buildTrainingGraph, gradientName } from "./training-graph.ts";

export interface PolicyTrainerOptions {
  readonly threads: number;
  /** Memory for the activations of one micro-batch, by estimate; at least one row is taken at a time. */
  readonly memoryMiB: number;
}

interface LoadedGraph {
  readonly session: Session;
  readonly fed: readonly string[];
}

export class PolicyTrainer {
  readonly #policy: PolicyModel;
  readonly #options: PolicyTrainerOptions;
  readonly #graphs = new Map<string, Promise<LoadedGraph>>();
  readonly #gradients: Map<string, Float32Array>;
  readonly adam: AdamState;
  #accumulated = 0;

  constructor(policy: PolicyModel, options: PolicyTrainerOptions) {
    this.#policy = policy;
    this.#options = options;
    this.adam = createAdamState(policy.trained);
    this.#gradients = new Map(
      policy.trained.map(({ name }) => [name, new Float32Array(policy.data.get(name)!.length)]),
    );
  }

  /** By parameter; empty when nothing has been accumulated. Valid until the next call. */
  get accumulatedGradients(): ReadonlyMap<string, Float32Array> {
    return this.#accumulated === 0 ? new Map() : this.#gradients;
  }

  readonly #capacity = (width: number): number =>
    rowsPerBatch(this.#policy.config, this.#options.memoryMiB, width);

  #graph(loss: LossSpec | null): Promise<LoadedGraph> {
    const key = loss === null ? "forward" : `${loss.name} ${loss.clipLow} ${loss.clipHigh}`;
    let loaded = this.#graphs.get(key);
    if (loaded === undefined) {
      const { model, fed } = buildTrainingGraph(this.#policy, loss);
      const folder = this.#policy.mappedFolder;
      loaded = createSession(model, {
        threads: this.#options.threads,
        ...(folder === null ? {} : { externalFolder: folder }),
      }).then((session) => ({ session, fed }));
      this.#graphs.set(key, loaded);
    }
    return loaded;
  }

  #run(
    graph: LoadedGraph,
    batchInputs: Readonly<Record<string, Tensor>>,
  ): Promise<Readonly<Record<string, Float32Array>>> {
    return graph.session.run({ ...batchInputs, ...feedParameters(this.#policy, graph.fed) });
  }

  /** [row][length] log-probabilities under the current weights; 0 outside the target mask. */
  async forward(rows: readonly TrainingRow[]): Promise<Float32Array[]> {
    const graph = await this.#graph(null);
    const result = rows.map((row) => new Float32Array(row.tokens.length));
    for (const batch of makeMicroBatches(rows, "token-sum", this.#capacity)) {
      const { ids, positions, mask, rows: indices, targets } = batch.inputs;
      const { logprobs } = await this.#run(graph, { ids, positions, mask, rows: indices, targets });
      for (const [i, { row, position }] of batch.origins.entries())
        result[row]![position] = logprobs![i]!;
    }
    return result;
  }

  /**
   * Adds the gradient of the aggregated loss over `rows` to what has been accumulated.
   * @returns `loss`, `tokens`, and ratio and KL statistics between current and sampling weights.
   * @throws NumericsError when the loss is not finite; the accumulated gradient is dropped.
   */
  async forwardBackward(
    rows: readonly TrainingRow[],
    loss: LossSpec,
  ): Promise<Record<string, number>> {
    const graph = await this.#graph(loss);
    const statistics = new RatioStatistics(loss);
    let total = 0;
    for (const batch of makeMicroBatches(rows, loss.aggregation, this.#capacity)) {
      const outputs = await this.#run(graph, batch.inputs);
      const value = outputs["loss"]![0]!;
      if (!Number.isFinite(value)) {
        this.#clear();
        throw new NumericsError("The loss", value);
      }
      total += value;
      this.#accumulate(outputs);
      statistics.add(batch, outputs["logprobs"]!);
    }
    return { loss: total, ...statistics.summary() };
  }

  #accumulate(outputs: Readonly<Record<string, Float32Array>>): void {
    for (const [name, sum] of this.#gradients) {
      const gradient = outputs[gradientName(name)]!;
      if (this.#accumulated === 0) sum.set(gradient);
      else for (let i = 0; i < sum.length; i++) sum[i]! += gradient[i]!;
    }
    this.#accumulated += 1;
  }

  #clear(): void {
    this.#accumulated = 0;
  }

  /**
   * Steps on the accumulated gradient and forgets it.
   * @throws NumericsError when it is not finite; the weights stay as they were.
   */
  optimStep(optim: OptimSpec): Record<string, number> {
    if (this.#accumulated === 0) return { grad_norm: 0 };
    this.#clear();
    const norm = adamStep(
      this.#policy.trained,
      this.#policy.data,
      this.#gradients,
      this.adam,
      optim,
    );
    return { grad_norm: norm };
  }

  async close(): Promise<void> {
    const graphs = await Promise.all(this.#graphs.values());
    await Promise.all(graphs.map(({ session }) => session.close()));
  }
}
