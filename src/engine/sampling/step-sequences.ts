/** One decoding step of a bucket's sequences. A failure stays with the sequence that causes it. */
import type { DecodeBucket } from "./decode-bucket.ts";
import { isPlain, type SampledToken } from "./sample-token.ts";
import type { SampledRows, SamplingSession } from "./sampling-session.ts";
import { samplesNext, type Sequence } from "./sequence.ts";

/** The result of a step for one sequence. */
export type StepRow =
  | { readonly error: unknown }
  | {
      /** Empty where nothing is sampled from it outside the graph. */
      readonly probabilities: Float32Array;
      /** What was sampled inside the graph. */
      readonly picked: SampledToken | null;
    };

function sampledInside({ tokens, probabilities }: SampledRows, row: number): SampledToken {
  return { token: tokens[row]!, logprob: Math.log(probabilities[row]!) };
}

/** A row per sequence, in their order; rows of probabilities have `vocabSize` numbers. Does not throw. */
export function stepSequences(
  bucket: DecodeBucket<Sequence>,
  session: SamplingSession,
  vocabSize: number,
): Promise<readonly StepRow[]> {
  // Depends on the sequence alone, not on batch composition: the two methods differ in rare samples.
  const isSampledInside = (sequence: Sequence): boolean =>
    session.samples &&
    samplesNext(sequence) &&
    sequence.rules === null &&
    isPlain(sequence.request.request.params);

  /** Where the run fails, each sequence is run separately, with the same random number. */
  async function step(
    part: DecodeBucket<Sequence>,
    uniforms: readonly (number | undefined)[],
  ): Promise<readonly StepRow[]> {
    const needsRows = part.sequences.some((s, i) => samplesNext(s) && uniforms[i] === undefined);
    try {
      const { probabilities, sampled } = await part.step(session, uniforms, needsRows);
      return part.sequences.map((_, i) => ({
        probabilities: probabilities.subarray(i * vocabSize, (i + 1) * vocabSize),
        picked: uniforms[i] === undefined ? null : sampledInside(sampled!, i),
      }));
    } catch (error) {
      const count = part.sequences.length;
      if (count === 1) return [{ error }];
      const rows: StepRow[] = [];
      for (let i = 0; i < count; i++) {
        const alone = part.alone(i);
        rows.push(...(await step(alone, [uniforms[i]])));
        part.takeFrom(alone, i);
      }
      return rows;
    }
  }

  return step(
    bucket,
    bucket.sequences.map((s) => (isSampledInside(s) ? s.uniform() : undefined)),
  );
}
