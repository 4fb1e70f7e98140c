/** One forward pass over new tokens of many sequences, prompts and continuations alike, and a sample for those that are through. */
import { Arena } from "../decoder/arena.ts";
import { forwardPass, logitsOf } from "../decoder/forward-pass.ts";
import type { Attention } from "../decoder/layer.ts";
import { biasTable } from "../decoder/training/bias-table.ts";
import type { DecoderWeights } from "../decoder/weights.ts";
import type { LogitBias } from "../logit-rules/rule-state.ts";
import type { SamplingParams } from "../../core/policy.ts";
import { keyBlock } from "../tensor/operations/attention.ts";
import { attendCached, writeCache } from "../tensor/operations/cached-attention.ts";
import { gatherRows } from "../tensor/operations/rows.ts";
import { sampleRows } from "../tensor/operations/sample.ts";
import { Program } from "../tensor/program.ts";
import { newTensor, tensorOf } from "../tensor/tensor.ts";
import { layerFloatsOf, type Block } from "./block-cache.ts";

/** New tokens of one sequence: those at `start` to below `end` of all that it has. */
export interface StepPart {
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
  readonly #parameters: number;

  constructor(weights: DecoderWeights) {
    this.#weights = weights;
    this.#arena = new Arena(weights.device);
    const { hiddenSize, ffnSize, layers, heads, headSize, kvHeads } = weights.config;
    const attention = hiddenSize * headSize * (2 * heads + 2 * kvHeads);
    this.#parameters = layers * (attention + 3 * hiddenSize * ffnSize);
  }

  async run(
    parts: readonly StepPart[],
    samples: readonly StepSample[],
  ): Promise<readonly StepResult[]> {
    const { device, config } = this.#weights;
    const program = new Program(device);
    const mark = this.#arena.mark;
    const hidden = this.#forward(program, parts);
    const ends: number[] = [];
    parts.reduce((count, { start, end }) => (ends.push(count + end - start), ends.at(-1)!), 0);
    const R = samples.length;
    const tokens = newTensor(device, 1, Math.max(1, R), "i32");
    const [logprobs, temperedLogprobs] = [
      newTensor(device, 1, Math.max(1, R)),
      newTensor(device, 1, Math.max(1, R)),
    ];
    if (R > 0) {
      const taken = this.#arena.take(R, config.hiddenSize);
      const logits = this.#arena.take(R, config.vocabSize);
      gatherRows(
        program,
        hidden,
        tensorOf(
          device,
          samples.map(({ part }) => ends[part]! - 1),
          "i32",
        ),
        taken,
      );
      logitsOf(program, this.#weights, taken, logits);
      const row = (of: (sample: StepSample) => number) => tensorOf(device, samples.map(of));
      sampleRows(program, logits, {
        uniforms: tensorOf(
          device,
          samples.map(({ uniform }) => uniform),
          "f64",
        ),
        temperatures: row(({ params }) => params.temperature),
        topP: row(({ params }) => params.topP),
        topK: tensorOf(
          device,
          samples.map(({ params }) => params.topK),
          "i32",
        ),
        minP: row(({ params }) => params.minP),
        biases: biasTable(
          device,
          samples.map(({ bias }) => bias),
          config.vocabSize,
        ),
        tokens,
        logprobs,
        temperedLogprobs,
      });
    }
    const work = (ends.at(-1) ?? 0) * this.#parameters + R * config.vocabSize * config.hiddenSize;
    if (work < smallWork) program.runNow();
    else await program.run();
    this.#arena.release(mark);
    const [ids, ones, tempered] = [tokens.data, logprobs.data, temperedLogprobs.data];
    return samples.map((_, i) => ({
      token: ids[i]!,
      logprob: ones[i]!,
      temperedLogprob: tempered[i]!,
    }));
  }

  #forward(program: Program, parts: readonly StepPart[]) {
    const { device, config } = this.#weights;
    const [ids, positions, sequences, slots, addresses]: number[][] = [[], [], [], [], []];
    const longest = parts.reduce((most, { blocks }) => Math.max(most, blocks.length), 1);
    const table = newTensor(device, parts.length, longest, "f64");
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
      blocks: tensorOf(device, addresses!, "f64"),
      slots: tensorOf(device, slots!, "i32"),
      table,
      sequences: tensorOf(device, sequences!, "i32"),
      positions: tensorOf(device, positions!, "i32"),
      positionSum: positions!.reduce((sum, position) => sum + position + 1, 0),
    };
    const layerFloats = layerFloatsOf(config);
    const attention: Attention = {
      attend(own, layer, qkv, mixed, shape) {
        writeCache(own, qkv, places, shape, layer * layerFloats);
        attendCached(own, qkv, mixed, places, shape, layer * layerFloats);
      },
    };
    const input = { ids: tensorOf(device, ids!, "i32"), positions: places.positions, attention };
    return forwardPass(program, this.#weights, input, this.#arena);
  }
}
