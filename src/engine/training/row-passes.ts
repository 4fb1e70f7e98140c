/** Passes of rows through the policy and its reference, in micro-batches that fit into memory; changes no weights. */
import { rowFactors } from "../../core/loss/aggregation.ts";
import { ConfigError } from "../../core/errors.ts";
import { defaultLoss, type LossSpec } from "../../core/loss/loss.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import { OneAfterAnother } from "../../util/one-after-another.ts";
import { Arena } from "../decoder/arena.ts";
import { sharedDecoder, type Policy } from "../decoder/policy.ts";
import type { DecoderWeights } from "../decoder/weights.ts";
import { LogitRuleCompiler } from "../logit-rules/compiler.ts";
import type { LogitBias } from "../logit-rules/rule-state.ts";
import type { Device } from "../tensor/device.ts";
import { checkRowIds } from "../token-ids.ts";
import type { BatchLimits } from "./batch-limits.ts";
import { batchLimits } from "./memory.ts";
import { makeMicroBatches, type MicroBatch, type RowBiases } from "./micro-batch.ts";
import { TrainingPass } from "./training-pass.ts";
import type { ValueHead } from "./value-head.ts";

/** Memory of passes, for one at a time: trainers of adapters on one base share it. */
export class TrainingRoom {
  readonly arena: Arena;
  readonly turns: OneAfterAnother = new OneAfterAnother();

  constructor(device: Device) {
    this.arena = new Arena(device);
  }
}

export interface PassOptions {
  /** Memory for the activations of one micro-batch, by estimate; at least one row is processed at a time. */
  readonly memoryMiB: number;
  /** Compiles rules of rows. @default one without a vocabulary, which knows no grammars */
  readonly rules?: LogitRuleCompiler;
  /** What it computes in. @default its own */
  readonly room?: TrainingRoom;
  /** The initial weights, for a policy whose every weight is trained. @default a KL penalty is refused */
  readonly loadReference?: () => Promise<DecoderWeights>;
}

/** Each call assumes that no other pass runs in the room, and that no step changes weights. */
export class RowPasses {
  readonly room: TrainingRoom;
  readonly #policy: Policy;
  readonly #limits: BatchLimits;
  readonly #rules: LogitRuleCompiler;
  readonly #loadReference: PassOptions["loadReference"];
  #reference: Promise<DecoderWeights> | undefined;

  constructor(policy: Policy, { memoryMiB, rules, room, loadReference }: PassOptions) {
    this.#policy = policy;
    this.#limits = batchLimits(policy.config, memoryMiB);
    this.#rules = rules ?? new LogitRuleCompiler(policy.config.vocabSize);
    this.room = room ?? new TrainingRoom(policy.device);
    this.#loadReference = loadReference;
  }

  /** @throws AgentTrainerError REQUEST_INVALID for a row with ids that the model does not have. */
  batches(
    rows: readonly TrainingRow[],
    { aggregation, aggregationLength }: LossSpec = defaultLoss,
    factors: Float64Array = rowFactors(rows, aggregation, aggregationLength),
  ): readonly MicroBatch[] {
    checkRowIds(rows, this.#policy.config.vocabSize);
    const biases: RowBiases | null = rows.every((row) => row.rules === undefined)
      ? null
      : (index) => biasesOf(rows[index]!, this.#rules);
    return makeMicroBatches(rows, factors, this.#limits, biases);
  }

  open(batch: MicroBatch, weights: DecoderWeights = this.#policy.weights): TrainingPass {
    this.room.arena.fit(batch.ids.length, batch.places.length);
    return new TrainingPass(weights, batch, this.room.arena, this.#limits.headChunkRows);
  }

  /** [row][length]; 0 outside the target mask. */
  perToken(
    rows: readonly TrainingRow[],
    quantity: "logprobs" | "entropies",
    weights?: DecoderWeights,
  ): Promise<Float32Array[]> {
    const options = { entropies: quantity === "entropies" };
    return this.#spread(rows, weights, async (pass) => (await pass.forward(options))[quantity]!);
  }

  /** [row][length] values of what comes before each trained token; 0 outside the target mask. */
  values(rows: readonly TrainingRow[], critic: ValueHead): Promise<Float32Array[]> {
    return this.#spread(rows, undefined, async (pass) => critic.values(await pass.forwardStates()));
  }

  async #spread(
    rows: readonly TrainingRow[],
    weights: DecoderWeights | undefined,
    measure: (pass: TrainingPass) => Promise<ArrayLike<number>>,
  ): Promise<Float32Array[]> {
    const result = rows.map((row) => new Float32Array(row.tokens.length));
    for (const batch of this.batches(rows.map(sampledOnly))) {
      const pass = this.open(batch, weights);
      const values = await measure(pass);
      pass.end();
      let at = 0;
      for (const { index, positions } of batch.rows)
        for (const position of positions) result[index]![position] = values[at++]!;
    }
    return result;
  }

  /** Null for a loss without a penalty. */
  async referenceLogprobs(batch: MicroBatch, loss: LossSpec): Promise<Float32Array | null> {
    if (loss.kl === undefined || loss.kl === null) return null;
    const pass = this.open(batch, await this.reference());
    const { logprobs } = await pass.forward({});
    pass.end();
    return logprobs;
  }

  /** @throws ConfigError where none is known */
  reference(): Promise<DecoderWeights> {
    return (this.#reference ??= referenceOf(this.#policy, this.#loadReference));
  }
}

/** A row without what is observed; the critic's columns are those of the row itself. */
export function sampledOnly(row: TrainingRow): TrainingRow {
  const { observationWeights: _, ...sampled } = row;
  return sampled;
}

/**
 * What rules of a row add to the logits of its tokens, by position in the row, found by replaying each completion
 * through the rules that sampled it; nothing where the logits stay as they are.
 */
function biasesOf(row: TrainingRow, compiler: LogitRuleCompiler): ReadonlyMap<number, LogitBias> {
  const found = new Map<number, LogitBias>();
  for (const { start, end, rules, maxTokens, stopTokenIds } of row.rules ?? []) {
    const state = compiler.compile(rules).start({ maxTokens, stopTokenIds });
    for (let at = start; at < end; at++) {
      const bias = state.bias();
      if (bias !== null) found.set(at, bias);
      state.accept(row.tokens[at]!);
    }
  }
  return found;
}

/** A model without its adapter is the reference; without an adapter the initial weights are needed. */
async function referenceOf(
  policy: Policy,
  load: PassOptions["loadReference"],
): Promise<DecoderWeights> {
  if (policy.lora !== null) return sharedDecoder(policy, null);
  if (load !== undefined) return load();
  throw new ConfigError({
    message:
      "A KL penalty needs a reference, but every weight is trained and no model folder is known.",
    hint: "Train a LoRA adapter, or give the engine the folder of the model.",
  });
}
