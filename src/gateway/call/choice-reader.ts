/** One choice of one call while it is sampled: deltas when the client streams, and its message at the end. */
import type { CompletionReader, ParsedCompletion, Sample, TextDelta } from "../../core/policy.ts";

export interface FinishedReading {
  /** As the client is to see it. */
  readonly sample: Sample;
  readonly parsed: ParsedCompletion;
  /** The text that no delta has shown. */
  readonly rest: TextDelta;
  /** The stop string that ended it. */
  readonly stopString: string | undefined;
}

export class ChoiceReader {
  readonly #reader: CompletionReader;
  readonly #onDelta: ((delta: TextDelta) => void) | undefined;
  #shownContent = 0;
  #shownReasoning = 0;

  constructor(reader: CompletionReader, onDelta?: (delta: TextDelta) => void) {
    this.#reader = reader;
    this.#onDelta = onDelta;
  }

  /** A stop string is complete; later tokens do not count. */
  get stopped(): boolean {
    return this.#reader.stopString !== undefined;
  }

  push(tokens: Int32Array): void {
    const delta = this.#reader.push(tokens);
    if (!this.#onDelta || (delta.content === "" && delta.reasoning === "")) return;
    this.#shownContent += delta.content.length;
    this.#shownReasoning += delta.reasoning.length;
    this.#onDelta(delta);
  }

  finish(sample: Sample): FinishedReading {
    // A sampler may give its last tokens in the result only.
    if (!this.stopped) this.push(sample.tokens.subarray(this.#reader.length));
    const { stopString, length } = this.#reader;
    const parsed = this.#reader.finish();
    const rest = {
      content: parsed.content.slice(this.#shownContent),
      reasoning: parsed.reasoning?.slice(this.#shownReasoning) ?? "",
    };
    return {
      sample: stopString === undefined ? sample : cutSample(sample, length),
      parsed,
      rest,
      stopString,
    };
  }
}

/** Its first tokens, which a stop string ended. */
function cutSample(sample: Sample, length: number): Sample {
  const { temperedLogprobs } = sample;
  const weightChanges = sample.weightChanges?.filter(({ at }) => at < length) ?? [];
  return {
    tokens: sample.tokens.subarray(0, length),
    logprobs: sample.logprobs.subarray(0, length),
    ...(temperedLogprobs === undefined
      ? {}
      : { temperedLogprobs: temperedLogprobs.subarray(0, length) }),
    stopReason: "stop",
    weightVersion: sample.weightVersion,
    ...(weightChanges.length === 0 ? {} : { weightChanges }),
  };
}
