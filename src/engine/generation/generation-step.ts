/** One forward pass over new tokens of many sequences, prompts and continuations alike, and a sample for those that are through. */
import { Arena } from "../decoder/arena.ts";
import { forwardPass, logitsOf } from "../decoder/forward-pass.ts";
import type { AdapterRows, Attention } from "../decoder/layer.ts";
import { biasTable } from "../training/bias-table.ts";
import type { DecoderWeights } from "../decoder/weights.ts";
import type { LogitBias } from "../logit-rules/rule-state.ts";
import type { SamplingParams } from "../../core/policy.ts";
import { keyBlock } from "../tensor/operations/attention.ts";
import { attendCached, writeCache } from "../tensor/operations/cached-attention.ts";
import { gatherRows } from "../tensor/operations/rows.ts";
import { sampleRows } from "../tensor/operations/sample.ts";
import { Program } from "../tensor/program.ts";
import { Scratch } from "../tensor/scratch.ts";
import type { Tensor, TensorType } from "../tensor/tensor.ts";
import { layerFloatsOf, type Block } from "./block-cache.ts";

/** New tokens of one sequence: those at `start` to below `end` of all that it has. */
export interface StepPart {
  /** What it is sampled from. Parts with the same weights are neighbours. */
  readonly weights: DecoderWeights;
  readonly tokens: ArrayLike<number>;
  readonly start: number;
  readonly end: number;
  /** With room for `end` positions; the first `start` are there. */
  readonly blocks: readonly Block[];
}

/** A token to sample after the last one of a part. */
export interface StepSample {
  /** Index of the part. */
  readonly part: number;
  readonly params: Pick<SamplingParams, "temperature" | "topP" | "topK" | "minP">;
  readonly uniform: number;
  readonly bias: LogitBias | null;
}

/** What was sampled; log-probabilities are NaN where the model's numbers are. */
export interface StepResult {
  readonly token: number;
  /** At temperature 1. */
  readonly logprob: number;
  readonly temperedLogprob: number;
}

/** Below so many multiplications a program ends sooner on this thread than it is handed to another one. */
const smallWork = 1e8;

export class GenerationStep {
  readonly #weights: DecoderWeights;
  readonly #arena: Arena;
  /** Numbers of one step; the next one replaces them. */
  readonly #rows: Scratch;
  readonly #parameters: number;

  /** @param weights with room for the adapter of every part, which have the same base */
  constructor(weights: DecoderWeights) {
    this.#weights = weights;
    this.#arena = new Arena(weights.device);
    this.#rows = new Scratch(weights.device);
    const { hiddenSize, ffnSize, layers, heads, headSize, kvHeads } = weights.config;
    const attention = hiddenSize * headSize * (2 * heads + 2 * kvHeads);
    this.#parameters = layers * (attention + 3 * hiddenSize * ffnSize);
  }

  async run(
    parts: readonly StepPart[],
    samples: readonly StepSample[],
  ): Promise<readonly StepResult[]> {
    const program = new Program(this.#weights.device);
    const mark = this.#arena.mark;
    try {
      const hidden = this.#forward(program, parts);
      const results = samples.length === 0 ? null : this.#sample(program, hidden, parts, samples);
      const { vocabSize, hiddenSize } = this.#weights.config;
      const work = hidden.rows * this.#parameters + samples.length * vocabSize * hiddenSize;
      if (work < smallWork) program.runNow();
      else await program.run();
      return results?.() ?? [];
    } finally {
      this.#arena.release(mark);
    }
  }

  /** @returns what reads the results once the program has run */
  #sample(
    program: Program,
    hidden: Tensor,
    parts: readonly StepPart[],
    samples: readonly StepSample[],
  ): () => readonly StepResult[] {
    const { device, config } = this.#weights;
    const count = samples.length;
    const ends: number[] = [];
    for (const { start, end } of parts) ends.push((ends.at(-1) ?? 0) + end - start);
    const row = <T extends TensorType>(
      purpose: string,
      type: T,
      of: (sample: StepSample) => number,
    ): Tensor<T> => this.#rows.row(purpose, samples.map(of), type);
    const result = <T extends TensorType>(purpose: string, type: T): Tensor<T> =>
      this.#rows.take(purpose, count, type).columnsFrom(0, count);
    const taken = this.#arena.take(count, config.hiddenSize);
    const logits = this.#arena.take(count, config.vocabSize);
    const last = row("last", "i32", ({ part }) => ends[part]! - 1);
    const tokens = result("tokens", "i32");
    const logprobs = result("logprobs", "f32");
    const temperedLogprobs = result("tempered logprobs", "f32");
    const biases = samples.map(({ bias }) => bias);
    gatherRows(program, hidden, last, taken);
    logitsOf(program, this.#weights, taken, logits);
    sampleRows(program, logits, {
      uniforms: row("uniforms", "f64", ({ uniform }) => uniform),
      temperatures: row("temperatures", "f32", ({ params }) => params.temperature),
      topP: row("topP", "f32", ({ params }) => params.topP),
      topK: row("topK", "i32", ({ params }) => params.topK),
      minP: row("minP", "f32", ({ params }) => params.minP),
      biases: biasTable(device, biases, config.vocabSize),
      tokens,
      logprobs,
      temperedLogprobs,
    });
    return () => {
      const [ids, own, tempered] = [tokens.data, logprobs.data, temperedLogprobs.data];
      return samples.map((_, i) => ({
        token: ids[i]!,
        logprob: own[i]!,
        temperedLogprob: tempered[i]!,
      }));
    };
  }

  #forward(program: Program, parts: readonly StepPart[]): Tensor {
    const { config } = this.#weights;
    const [ids, positions, sequences, slots, addresses]: number[][] = [[], [], [], [], []];
    const longest = parts.reduce((most, { blocks }) => Math.max(most, blocks.length), 1);
    const cells = parts.length * longest;
    const table = this.#rows
      .take("table", cells, "f64")
      .columnsFrom(0, cells)
      .reshaped(parts.length, longest);
    for (const [i, { tokens, start, end, blocks }] of parts.entries()) {
      for (let position = start; position < end; position++) {
        ids!.push(tokens[position]!);
        positions!.push(position);
        sequences!.push(i);
        slots!.push(position % keyBlock);
        addresses!.push(blocks[Math.floor(position / keyBlock)]!.memory.address);
      }
      table.row(i).set(blocks.map(({ memory }) => memory.address));
    }
    const places = {
      blocks: this.#rows.row("blocks", addresses!, "f64"),
      slots: this.#rows.row("slots", slots!, "i32"),
      table,
      sequences: this.#rows.row("sequences", sequences!, "i32"),
      positions: this.#rows.row("positions", positions!, "i32"),
      positionSum: positions!.reduce((sum, position) => sum + position + 1, 0),
    };
    const layerFloats = layerFloatsOf(config);
    const attention: Attention = {
      attend(own, layer, qkv, mixed, shape) {
        writeCache(own, qkv, places, shape, layer * layerFloats);
        attendCached(own, qkv, mixed, places, shape, layer * layerFloats);
      },
    };
    const input = {
      ids: this.#rows.row("ids", ids!, "i32"),
      positions: places.positions,
      attention,
    };
    const adapters = rowsOfAdapters(parts);
    const [only] = adapters;
    return adapters.length === 1
      ? forwardPass(program, only!.weights, input, this.#arena)
      : forwardPass(program, this.#weights, { ...input, adapters }, this.#arena);
  }
}

function rowsOfAdapters(parts: readonly StepPart[]): readonly AdapterRows<DecoderWeights>[] {
  const adapters: { first: number; count: number; readonly weights: DecoderWeights }[] = [];
  let first = 0;
  for (const { weights, start, end } of parts) {
    const before = adapters.at(-1);
    if (before?.weights === weights) before.count += end - start;
    else adapters.push({ first, count: end - start, weights });
    first += end - start;
  }
  return adapters;
}
