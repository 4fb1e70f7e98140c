/** A whole response from its chunks: all choices, the prompt's ids, the count. */
import type { CallUsage } from "../../call/call-request.ts";
import type { ResponsePart, ResponseChunk } from "./adapters/response-part.ts";
import { ChoiceCollector } from "./choice-collector.ts";
import { malformed } from "./upstream-error.ts";

/** A part and how many of its tokens are new. */
export type OnPart = (part: ResponsePart, freshTokens: number, choice: ChoiceCollector) => void;

export class ResponseCollector {
  readonly choices: readonly ChoiceCollector[];
  promptIds: ArrayLike<number> | undefined;
  usage: CallUsage | undefined;
  promptChanged = false;
  readonly #workerId: string;

  constructor(workerId: string, n: number) {
    this.#workerId = workerId;
    this.choices = Array.from({ length: n }, () => new ChoiceCollector(workerId));
  }

  add(piece: ResponseChunk, onPart: OnPart): void {
    this.promptIds ??= piece.promptIds;
    this.usage = piece.usage ?? this.usage;
    for (const part of piece.parts) {
      const choice = this.choices[part.choice];
      if (!choice) throw malformed(this.#workerId, `sent a choice ${part.choice}`);
      const fresh = choice.add(part);
      if (fresh !== null) onPart(part, fresh, choice);
    }
  }

  /** @throws UpstreamError when the response ended early. */
  requireFinish(): void {
    for (const choice of this.choices) choice.requireFinish();
  }

  /** Why what was captured is not the whole truth; undefined when nothing speaks against it. */
  doubt(): string | undefined {
    if (this.promptChanged) return "the server used another prompt than it was given";
    const missingIds = this.choices.reduce((sum, choice) => sum + choice.missingIds, 0);
    if (missingIds > 0) return `the server omitted the ids of ${missingIds} tokens`;
    if (this.choices.some(({ missingLogprobs }) => missingLogprobs > 0)) {
      return "the server gave no log-probability of some tokens";
    }
    if (this.choices.some(({ missingTokens }) => missingTokens > 0)) {
      return "the server gave log-probabilities of tokens whose ids it omitted";
    }
    const sampled = this.choices.reduce((sum, { tokens }) => sum + tokens.length, 0);
    const { completionTokens: counted = 0 } = this.usage ?? {};
    const isComplete = this.choices.every((choice) => choice.isFinished);
    if (!isComplete || counted === 0 || counted === sampled) return undefined;
    return `the server counted ${counted} tokens, but sent the ids of ${sampled}`;
  }
}
