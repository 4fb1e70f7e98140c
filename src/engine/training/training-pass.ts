/**
 * One micro-batch through the decoder in two phases: log-probabilities out; then coefficients in, and gradients added.
 * Between layers other programs may run, so that sampling goes on.
 */
import { embed, embedBackward } from "../tensor/operations/embed.ts";
import { logitGradients, logProbabilities, type LogitBiases } from "../tensor/operations/head.ts";
import { attend, attendBackward, layOutSegments } from "../tensor/operations/attention.ts";
import { norm, normBackward } from "../tensor/operations/norm.ts";
import { gatherRows, scatterRows } from "../tensor/operations/rows.ts";
import { Program } from "../tensor/program.ts";
import { newTensor, tensorOf, type Tensor } from "../tensor/tensor.ts";
import { embeddingName, finalNormName } from "../model/parameters.ts";
import type { Arena, ArenaMark } from "../decoder/arena.ts";
import { contextOf, forwardPass } from "../decoder/forward-pass.ts";
import {
  layerBackward,
  layerForward,
  takeActivations,
  type Attention,
  type LayerActivations,
} from "../decoder/layer.ts";
import type { Gradients } from "../decoder/linear.ts";
import type { DecoderWeights } from "../decoder/weights.ts";
import { biasTable } from "./bias-table.ts";
import type { MicroBatch } from "./micro-batch.ts";

/** [R] each. */
export interface Coefficients {
  readonly logprobs: Float64Array;
  /** Null where entropies have none. */
  readonly entropies: Float64Array | null;
}

export interface ForwardOptions {
  /** @default false */
  readonly keepsActivations?: boolean;
  /** @default false */
  readonly entropies?: boolean;
  /**
   * Receives all logits, some [rows, V] at a time, and the log of the sum of their exponentials [rows]; `first` is the
   * place of the first of them among the R. They are gone when it returns.
   */
  readonly onLogits?: (first: number, logits: Tensor, logSums: Float32Array) => void;
}

export class TrainingPass {
  readonly #weights: DecoderWeights;
  readonly #batch: MicroBatch;
  readonly #arena: Arena;
  readonly #start: ArenaMark;
  readonly #program: Program;
  readonly #chunkRows: number;
  readonly #ids: Tensor<"i32">;
  readonly #positions: Tensor<"i32">;
  readonly #places: Tensor<"i32">;
  readonly #targets: Tensor<"i32">;
  readonly #inverseTemperatures: Tensor | null;
  readonly #biases: LogitBiases | null;
  readonly #attention: Attention;
  /** Inputs of the layers, and what they kept; the last input is that of the last norm. */
  readonly #inputs: Tensor[] = [];
  readonly #kept: (LayerActivations | null)[] = [];
  readonly #logprobs: Tensor;
  readonly #logSums: Tensor;
  readonly #entropies: Tensor;
  #taken!: Tensor;

  constructor(weights: DecoderWeights, batch: MicroBatch, arena: Arena, chunkRows: number) {
    const { device } = weights;
    this.#weights = weights;
    this.#batch = batch;
    this.#arena = arena;
    this.#start = arena.mark;
    this.#program = new Program(device);
    this.#chunkRows = chunkRows;
    this.#ids = tensorOf(device, batch.ids, "i32");
    this.#positions = tensorOf(device, batch.positions, "i32");
    this.#places = tensorOf(device, batch.places, "i32");
    this.#targets = tensorOf(device, batch.targets, "i32");
    this.#inverseTemperatures = batch.isTempered
      ? tensorOf(device, batch.inverseTemperatures)
      : null;
    this.#biases = biasTable(device, batch.biases, weights.config.vocabSize);
    const layout = layOutSegments(device, batch.segments);
    this.#attention = {
      attend: (program, _, qkv, mixed, shape) => attend(program, qkv, mixed, shape, layout),
      backward: (program, _, qkv, dMixed, dQkv, shape) =>
        attendBackward(program, qkv, dMixed, dQkv, shape, layout),
    };
    const count = batch.targets.length;
    const row = (): Tensor => newTensor(device, 1, count);
    [this.#logprobs, this.#logSums, this.#entropies] = [row(), row(), row()];
  }

  /** [R] log-probabilities, and entropies where they are wanted. With `keepsActivations`, `backward` may follow. */
  async forward({
    keepsActivations = false,
    entropies = false,
    onLogits,
  }: ForwardOptions): Promise<{
    readonly logprobs: Float32Array;
    readonly entropies: Float32Array | null;
  }> {
    const program = this.#program;
    this.#take(keepsActivations ? await this.#keepingForward() : this.#plainForward());
    await this.#chunks(async (first, rows) => {
      const logits = this.#chunkLogits(first, rows, entropies);
      await program.run();
      onLogits?.(first, logits, this.#logSums.data.subarray(first, first + rows));
    });
    return {
      logprobs: this.#logprobs.data.slice(),
      entropies: entropies ? this.#entropies.data.slice() : null,
    };
  }

  /** Without log-probabilities. */
  async forwardStates(): Promise<Tensor> {
    this.#take(this.#plainForward());
    await this.#program.run();
    return this.#taken;
  }

  /** After `forward`: [R, H] the hidden states that the logits are made of. */
  get states(): Tensor {
    return this.#taken;
  }

  #take(hidden: Tensor): void {
    this.#taken = this.#arena.take(this.#batch.places.length, hidden.columns);
    gatherRows(this.#program, hidden, this.#places, this.#taken);
  }

  #plainForward(): Tensor {
    const input = { ids: this.#ids, positions: this.#positions, attention: this.#attention };
    return forwardPass(this.#program, this.#weights, input, this.#arena);
  }

  async #keepingForward(): Promise<Tensor> {
    const [program, arena, weights] = [this.#program, this.#arena, this.#weights];
    const { config, layers, finalNorm } = weights;
    const tokens = this.#batch.ids.length;
    const hidden = (): Tensor => arena.take(tokens, config.hiddenSize);
    let x = hidden();
    embed(program, this.#ids, weights.embedding, x, config.embeddingScale);
    for (const layer of layers.keys()) {
      const y = hidden();
      const mark = arena.mark;
      const context = this.#context(layer);
      const kept = takeActivations(arena, tokens, context, x);
      layerForward(program, context, x, y, kept);
      this.#inputs.push(x);
      this.#kept.push(this.#batch.isRecomputed ? null : kept);
      if (this.#batch.isRecomputed) arena.release(mark);
      await program.run();
      x = y;
    }
    this.#inputs.push(x);
    const result = hidden();
    norm(program, x, finalNorm, result, this.#normOptions);
    return result;
  }

  get #normOptions(): { readonly epsilon: number; readonly offset: 0 | 1 } {
    const { normEpsilon: epsilon, normOffset: offset } = this.#weights.config;
    return { epsilon, offset };
  }

  #context(layer: number) {
    return contextOf(this.#weights, layer, {
      positions: this.#positions,
      attention: this.#attention,
    });
  }

  /** Some of the trained tokens at a time: logits of all would be the largest tensor by far. */
  async #chunks(work: (first: number, rows: number) => Promise<void>): Promise<void> {
    const count = this.#batch.targets.length;
    const chunk = Math.ceil(count / Math.ceil(count / this.#chunkRows));
    for (let first = 0; first < count; first += chunk) {
      const mark = this.#arena.mark;
      await work(first, Math.min(chunk, count - first));
      this.#arena.release(mark);
    }
  }

  /** Shaped logits, [rows, V], and what is known of them. */
  #chunkLogits(first: number, rows: number, withEntropies: boolean): Tensor {
    const program = this.#program;
    const logits = this.#arena.take(rows, this.#weights.config.vocabSize);
    const of = <T extends Tensor | Tensor<"i32">>(tensor: T): T =>
      tensor.columnsFrom(first, rows) as T;
    this.#weights.head.forward(program, this.#taken.slice(first, rows), logits, { narrow: null });
    logProbabilities(program, logits, {
      targets: of(this.#targets),
      inverseTemperatures: this.#inverseTemperatures && of(this.#inverseTemperatures),
      biases: this.#biases && { rows: this.#biases.rows, of: of(this.#biases.of) },
      logprobs: of(this.#logprobs),
      logSums: of(this.#logSums),
      entropies: withEntropies ? of(this.#entropies) : null,
    });
    return logits;
  }

  /** Adds the gradients of sum of coefficients times log-probabilities (and entropies). Ends the pass. */
  async backward(coefficients: Coefficients, gradients: Gradients): Promise<void> {
    const { device } = this.#weights;
    const [program, arena, weights] = [this.#program, this.#arena, this.#weights];
    const { config } = weights;
    const ofLogprobs = tensorOf(device, coefficients.logprobs);
    const ofEntropies = coefficients.entropies && tensorOf(device, coefficients.entropies);
    const tokens = this.#batch.ids.length;
    const dTaken = arena.take(this.#taken.rows, config.hiddenSize);
    await this.#chunks(async (first, rows) => {
      const logits = this.#chunkLogits(first, rows, ofEntropies !== null);
      const of = (tensor: Tensor): Tensor => tensor.columnsFrom(first, rows);
      logitGradients(program, logits, {
        targets: this.#targets.columnsFrom(first, rows),
        inverseTemperatures: this.#inverseTemperatures && of(this.#inverseTemperatures),
        logSums: of(this.#logSums),
        coefficients: of(ofLogprobs),
        entropy: ofEntropies && { coefficients: of(ofEntropies), values: of(this.#entropies) },
      });
      const [x, dx] = [this.#taken.slice(first, rows), dTaken.slice(first, rows)];
      weights.head.backward(program, { x, narrow: null, dy: logits, dx }, gradients, arena);
      await program.run();
    });
    const dHidden = arena.take(tokens, config.hiddenSize);
    const d = arena.take(tokens, config.hiddenSize);
    // Nothing is running that uses the arena.
    dHidden.data.fill(0);
    scatterRows(program, dTaken, this.#places, dHidden);
    normBackward(program, this.#inputs.at(-1)!, weights.finalNorm, dHidden, d, {
      ...this.#normOptions,
      weightGradient: gradients.get(finalNormName) ?? null,
    });
    for (let layer = weights.layers.length - 1; layer >= 0; layer--) {
      await this.#layerBackward(layer, d, gradients);
    }
    const table = gradients.get(embeddingName);
    if (table !== undefined) embedBackward(program, this.#ids, d, table, config.embeddingScale);
    await program.run();
    this.end();
  }

  async #layerBackward(layer: number, d: Tensor, gradients: Gradients): Promise<void> {
    const [program, arena] = [this.#program, this.#arena];
    const mark = arena.mark;
    const context = this.#context(layer);
    const x = this.#inputs[layer]!;
    let kept = this.#kept[layer] ?? null;
    if (kept === null) {
      kept = takeActivations(arena, d.rows, context, x);
      layerForward(program, context, x, arena.take(d.rows, d.columns), kept);
    }
    layerBackward(program, context, x, d, kept, gradients, arena);
    await program.run();
    arena.release(mark);
  }

  /** Frees what the pass took. */
  end(): void {
    this.#arena.release(this.#start);
  }
}
