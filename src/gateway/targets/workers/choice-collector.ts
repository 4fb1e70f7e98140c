/**
 * One choice from its parts: what is new in each of them, and the whole at the end. Repeated parts are
 * dropped where the server counts.
 */
import type { ToolCall } from "../../../core/message.ts";
import type { StopReason } from "../../../core/policy.ts";
import { commonPrefix } from "../../../util/token-prefix.ts";
import type { TokenText } from "../../call/call-request.ts";
import type { ResponsePart } from "./adapters/response-part.ts";
import { ToolCallCollector } from "./tool-call-collector.ts";
import { malformed, UpstreamError } from "./upstream-error.ts";

/** What servers call an answer that was cut off by its limit. */
const lengths: ReadonlySet<string> = new Set(["length", "max_tokens", "model_length"]);
/** Reasons that say that there is no answer. */
const failures: ReadonlySet<string> = new Set(["error", "insufficient_system_resource"]);

export class ChoiceCollector {
  readonly tokens: number[] = [];
  readonly logprobs: number[] = [];
  readonly texts: TokenText[] = [];
  content = "";
  reasoning: string | undefined;
  stopString: string | undefined;
  /** Tokens that came without a logprob. */
  missingLogprobs = 0;
  /** Logprobs that came without their token. */
  missingTokens = 0;
  /** Tokens that the server counted and did not report. */
  missingIds = 0;
  #counted = 0;
  readonly #workerId: string;
  readonly #toolCalls = new ToolCallCollector();
  #finish: string | undefined;

  constructor(workerId: string) {
    this.#workerId = workerId;
  }

  get isFinished(): boolean {
    return this.#finish !== undefined;
  }

  get stopReason(): StopReason {
    if (this.#finish === undefined) return "aborted";
    return lengths.has(this.#finish.toLowerCase()) ? "length" : "stop";
  }

  /** The provider's filter ended it. */
  get isFiltered(): boolean {
    return this.#finish === "content_filter";
  }

  get toolCalls(): readonly ToolCall[] {
    return this.#toolCalls.calls;
  }

  /** Returns how many tokens are new; null for a part that had come before, whose text is not. */
  add(part: ResponsePart): number | null {
    const fresh = this.#addTokens(part);
    const isRepeated = fresh === 0 && (part.tokens?.length ?? 0) > 0;
    if (!isRepeated) {
      if (part.content !== undefined) this.content += part.content;
      if (part.reasoning !== undefined) this.reasoning = (this.reasoning ?? "") + part.reasoning;
      for (const call of part.toolCalls ?? []) this.#refuse(this.#toolCalls.add(call));
      this.#refuse(part.unreadable);
    }
    if (part.finish === "abort") {
      const message = `The worker "${this.#workerId}" aborted the call, as servers do during a weight sync.`;
      throw new UpstreamError({ failure: "overloaded", message, workerId: this.#workerId });
    }
    if (part.finish !== undefined && failures.has(part.finish)) {
      const message = `The worker "${this.#workerId}" ended its response with ${JSON.stringify(part.finish)}.`;
      throw new UpstreamError({ failure: "failed", message, workerId: this.#workerId });
    }
    this.#finish ??= part.finish;
    this.stopString ??= part.stopString;
    return isRepeated ? null : fresh;
  }

  /** @throws UpstreamError when the response ended before the choice did. */
  requireFinish(): void {
    this.#refuse(this.#toolCalls.problem());
    if (this.isFinished) return;
    throw new UpstreamError({
      failure: "cut",
      message: `The worker "${this.#workerId}" ended its response before it was complete.`,
      workerId: this.#workerId,
    });
  }

  #refuse(problem: string | undefined): void {
    if (problem !== undefined) throw malformed(this.#workerId, problem);
  }

  #addTokens({ tokens = [], logprobs = [], texts = [], sampled }: ResponsePart): number {
    const known = this.tokens.length;
    let skip = 0;
    if (sampled !== undefined && tokens.length > 0) {
      // All so far, or what is new, or what had come before.
      if (tokens.length === sampled) skip = Math.min(known, sampled);
      else if (known + tokens.length > sampled) return 0;
      else if (this.missingIds > 0 && sampled <= this.#counted) return 0;
      else this.missingIds = sampled - known - tokens.length;
      this.#counted = sampled;
      if (commonPrefix(tokens, this.tokens) < skip) {
        throw malformed(this.#workerId, "changed tokens that it had sent");
      }
    }
    for (let i = skip; i < tokens.length; i++) {
      this.tokens.push(tokens[i] as number);
      const logprob = logprobs[i] ?? null;
      if (logprob === null) this.missingLogprobs++;
      this.logprobs.push(logprob ?? Number.NaN);
    }
    if (tokens.length > 0) this.missingTokens += Math.max(0, logprobs.length - tokens.length);
    // Without ids, texts and logprobs still are what clients may have requested.
    if (tokens.length === 0 && logprobs.length > 0) {
      for (const logprob of logprobs) this.logprobs.push(logprob ?? Number.NaN);
    }
    this.texts.push(...texts.slice(skip));
    return tokens.length - skip;
  }
}
