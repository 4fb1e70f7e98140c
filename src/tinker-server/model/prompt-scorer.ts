/** All log-probabilities at every position of a prompt, which sampling never holds. */
import type { PolicyModel } from "../../engine/model/policy-model.ts";
import { SamplingSession } from "../../engine/sampling/sampling-session.ts";
import { maskedScore } from "../../engine/model/attention.ts";
import type { AdapterWeights } from "./adapter.ts";

/** Positions whose logits exist at the same time; each costs a vocabulary. */
const rowsAtOnce = 64;

/** @param row its log-probabilities are those of token `row + 1` of the prompt; valid during the call. */
export type VisitLogprobs = (row: number, logprobs: Float32Array) => void;

export class PromptScorer {
  readonly #session: SamplingSession;
  readonly #policy: PolicyModel;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(session: SamplingSession, policy: PolicyModel) {
    this.#session = session;
    this.#policy = policy;
  }

  static async create(policy: PolicyModel, threads: number): Promise<PromptScorer> {
    const own = { ...policy, data: new Map(policy.data) };
    return new PromptScorer(await SamplingSession.create(own, threads), own);
  }

  /** One prompt at a time. */
  read(weights: AdapterWeights, prompt: Int32Array, visit: VisitLogprobs): Promise<void> {
    const result = this.#last.then(() => this.#score(weights, prompt, visit));
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #score(weights: AdapterWeights, prompt: Int32Array, visit: VisitLogprobs): Promise<void> {
    for (const [name, values] of weights.factors) this.#policy.data.set(name, values);
    for (let start = 0; start < prompt.length - 1; start += rowsAtOnce) {
      const rows = Math.min(rowsAtOnce, prompt.length - 1 - start);
      const logits = await this.#logits(prompt, start, rows);
      const { vocabSize } = this.#policy.config;
      for (let i = 0; i < rows; i++)
        visit(start + i, normalized(logits.subarray(i * vocabSize, (i + 1) * vocabSize)));
    }
  }

  async #logits(prompt: Int32Array, start: number, rows: number): Promise<Float32Array> {
    const { layers, kvHeads, headSize } = this.#policy.config;
    const size = prompt.length;
    const empty = Array.from({ length: layers }, () => new Float32Array(kvHeads * headSize));
    // One cached token that is masked: the graph requires a cache.
    const mask = new Float32Array(size * (1 + size));
    for (let i = 0; i < size; i++) {
      mask[i * (1 + size)] = maskedScore;
      mask.fill(maskedScore, i * (1 + size) + i + 2, (i + 1) * (1 + size));
    }
    const { probabilities } = await this.#session.step({
      sequences: 1,
      newTokens: size,
      cachedTokens: 1,
      ids: BigInt64Array.from(prompt, BigInt),
      positions: BigInt64Array.from({ length: size }, (_, i) => BigInt(i)),
      mask,
      rows: BigInt64Array.from({ length: rows }, (_, i) => BigInt(start + i)),
      cache: { keys: empty, values: empty },
    });
    return probabilities.map(Math.log);
  }

  close(): Promise<void> {
    return this.#session.close();
  }
}

/** In place, as natural logs under the full softmax. */
function normalized(logits: Float32Array): Float32Array {
  const max = logits.reduce((most, value) => Math.max(most, value), -Infinity);
  let total = 0;
  for (const value of logits) total += Math.exp(value - max);
  const shift = max + Math.log(total);
  for (let i = 0; i < logits.length; i++) logits[i]! -= shift;
  return logits;
}

/** The k largest, ties to the smaller id. */
export function mostLikely(logprobs: Float32Array, k: number): [number, number][] {
  const order = Array.from(logprobs.keys()).toSorted(
    (a, b) => logprobs[b]! - logprobs[a]! || a - b,
  );
  return order.slice(0, k).map((id) => [id, logprobs[id]!]);
}
