/** One choice of one call while it is sampled: stop strings, and deltas when the client streams. */
import type { Renderer, Sample } from "../../core/policy.ts";
import { DeltaReader, type TextDelta } from "./delta-reader.ts";
import { findStop, firstStop, maxStopLength, TextReader } from "./text-reader.ts";

export interface ChoiceReaderOptions {
  readonly renderer: Renderer;
  readonly stops: readonly string[];
  readonly toolsOffered: boolean;
  /** All of it is content. */
  readonly raw: boolean;
  readonly onDelta?: (delta: TextDelta) => void;
}

export class ChoiceReader {
  readonly deltas: DeltaReader | null;
  readonly #reader: TextReader;
  readonly #stops: readonly string[];
  readonly #maxStopLength: number;
  readonly #onDelta: ((delta: TextDelta) => void) | undefined;
  #stopped = false;

  constructor(options: ChoiceReaderOptions) {
    const { renderer, stops, toolsOffered, raw, onDelta } = options;
    this.#reader = new TextReader(renderer);
    this.#stops = stops;
    this.#maxStopLength = maxStopLength(stops);
    this.#onDelta = onDelta;
    this.deltas = onDelta ? new DeltaReader(renderer, stops, { toolsOffered, raw }) : null;
  }

  /** A stop string is complete; later tokens do not count. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** The stop string that is complete. */
  get stopString(): string | undefined {
    return this.#stopped ? firstStop(this.#reader.text, this.#stops) : undefined;
  }

  push(tokens: Int32Array): void {
    if (this.#stopped) return;
    if (this.#stops.length === 0) this.#reader.push(tokens);
    else this.#pushUntilStop(tokens);
    if (this.#stopped || !this.deltas) return;
    const delta = this.deltas.update(this.#reader);
    if (delta) this.#onDelta?.(delta);
  }

  /** The sample as the client is to see it. */
  finish(sample: Sample): Sample {
    // A sampler may give its last tokens in the result only.
    if (sample.tokens.length > this.#reader.length) {
      this.push(sample.tokens.subarray(this.#reader.length));
    }
    if (!this.#stopped) return sample;
    const kept = this.#reader.length;
    const { temperedLogprobs } = sample;
    const weightChanges = sample.weightChanges?.filter(({ at }) => at < kept) ?? [];
    return {
      tokens: sample.tokens.subarray(0, kept),
      logprobs: sample.logprobs.subarray(0, kept),
      ...(temperedLogprobs === undefined
        ? {}
        : { temperedLogprobs: temperedLogprobs.subarray(0, kept) }),
      stopReason: "stop",
      weightVersion: sample.weightVersion,
      ...(weightChanges.length === 0 ? {} : { weightChanges }),
    };
  }

  #pushUntilStop(tokens: Int32Array): void {
    for (let i = 0; i < tokens.length; i++) {
      const known = this.#reader.text.length;
      this.#reader.push(tokens.subarray(i, i + 1));
      const from = Math.max(0, known - this.#maxStopLength + 1);
      if (findStop(this.#reader.text, this.#stops, from) !== -1) {
        this.#stopped = true;
        return;
      }
    }
  }
}
