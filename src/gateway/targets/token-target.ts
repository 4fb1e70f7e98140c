/**
 * A target that is given token ids and gives token ids: the gateway renders prompts and reads what was
 * sampled, so it owns the chat template. Knows neither wire formats nor where tokens are sampled.
 */
import { AgentTrainerError } from "../../core/errors.ts";
import type { Renderer, Sample } from "../../core/policy.ts";
import { ChoiceReader } from "../call/choice-reader.ts";
import { readMessage } from "../call/completion.ts";
import { unmetOf } from "../call/output-form.ts";
import type { FinishedChoice, Target, TargetCall } from "./target.ts";
import { prepareCall, type PreparedCall, type PromptLimit } from "../call/prompt.ts";
import { defined } from "../../util/defined.ts";
import type { SampleCall, TokenSource } from "./token-source.ts";

class TokenCall {
  #readers: readonly ChoiceReader[] | null = null;
  #committed = false;
  #firstTokenMark: number | undefined;
  readonly #call: TargetCall;
  readonly #prepared: PreparedCall;
  readonly #renderer: Renderer;
  readonly #stops: readonly string[];
  readonly #adapter: string | null | undefined;

  constructor(call: TargetCall, prepared: PreparedCall, renderer: Renderer) {
    this.#call = call;
    this.#prepared = prepared;
    this.#renderer = renderer;
    this.#adapter = call.session.adapterOf(call.trajectoryUid);
    this.#stops = [...call.request.stops, ...renderer.stop.strings];
    this.#readers = this.#createReaders();
  }

  async sample(source: TokenSource): Promise<SampleCall> {
    const { session, request, abort, trajectoryUid } = this.#call;
    let failure: unknown;
    const sample = await abort.wait(
      source.sample({
        tokens: this.#prepared.tokens,
        params: this.#prepared.sampling,
        n: request.n,
        ...defined({ adapter: this.#adapter }),
        signal: abort.signal,
        affinity: trajectoryUid ?? session.uid,
        remainingMs: () => abort.remainingMs,
        committed: () => this.#committed,
        onRestart: () => {
          this.#readers = this.#createReaders();
        },
        ...(this.#readers
          ? {
              onChunk: ({ index, tokens }) => {
                this.#firstTokenMark ??= performance.now();
                try {
                  this.#readers?.[index]?.push(tokens);
                  if (this.#readers?.every((reader) => reader.stopped)) abort.abort("stop");
                } catch (error) {
                  // Not to be thrown into the source, which serves other calls, too.
                  failure ??= error;
                  abort.abort("stop");
                }
              },
            }
          : {}),
      }),
    );
    if (failure !== undefined) throw failure;
    if (sample.samples.length === request.n) return sample;
    throw new AgentTrainerError({
      code: "INTERNAL",
      message: `The sampler returned ${sample.samples.length} samples, but ${request.n} were requested.`,
    });
  }

  /** What samples it; undefined where roles have no adapters. */
  get adapter(): string | null | undefined {
    return this.#adapter;
  }

  /** When the first token was there; undefined where it was not watched. */
  get firstTokenMark(): number | undefined {
    return this.#firstTokenMark;
  }

  finish(sample: Sample, choice: number): FinishedChoice {
    const { request } = this.#call;
    const reader = this.#readers?.[choice];
    const { tokens, logprobs, temperedLogprobs, stopReason, weightVersion, weightChanges } =
      reader?.finish(sample) ?? sample;
    const read = readMessage(this.#renderer, tokens, {
      raw: request.rawPrompt !== undefined,
      toolsOffered: request.tools.length > 0,
      stops: reader?.stopped === true ? this.#stops : [],
      key: `${choice}:${this.#prepared.sampleKey}`,
    });
    const unmet = unmetOf(this.#prepared.form ?? null, read.message);
    const shown = reader?.deltas?.finish(read.message);
    const stopString = reader?.stopString;
    return {
      ...read,
      ...defined({ unmet }),
      choice,
      stopReason,
      tokens,
      logprobs,
      ...defined({ temperedLogprobs }),
      weightVersion,
      ...defined({ weightChanges }),
      ...(stopString !== undefined && request.stops.includes(stopString) ? { stopString } : {}),
      message: shown?.message ?? read.message,
      rest: shown?.delta ?? { content: "", reasoning: "" },
    };
  }

  #createReaders(): ChoiceReader[] | null {
    const { request, onDelta } = this.#call;
    const stops = this.#stops;
    if (stops.length === 0 && !onDelta) return null;
    return Array.from(
      { length: request.n },
      (_, choice) =>
        new ChoiceReader({
          renderer: this.#renderer,
          stops,
          toolsOffered: request.tools.length > 0,
          raw: request.rawPrompt !== undefined,
          ...(onDelta
            ? {
                onDelta: (delta) => {
                  this.#committed = true;
                  onDelta(choice, delta);
                },
              }
            : {}),
        }),
    );
  }
}

/** Prompts of more than so many contexts are not counted. */
const countedContexts = 8;
const countLimitMs = 60_000;

/** What is sampled from `source`, rendered and read by `renderer`. */
export function createTokenTarget(
  source: TokenSource,
  renderer: Renderer,
  promptLimit?: PromptLimit,
): Target {
  const rules = source.appliesLogitRules === true;
  return {
    renderer,
    // A renderer makes tokens of text only, and nothing but ids and sampling leaves the gateway.
    abilities: { images: false, topLogprobs: false, serverFields: false, rules },
    async countTokens(messages, tools) {
      // Larger numbers are of no use, and counting would take minutes.
      const options = { tools, contextLength: countedContexts * source.contextLength };
      const { tokens } = renderer.long
        ? await renderer.long.render(messages, options, AbortSignal.timeout(countLimitMs))
        : renderer.render(messages, options);
      return tokens.length;
    },
    get contextLength() {
      return source.contextLength;
    },
    async run(call) {
      const { abort } = call;
      if (source.ready) await abort.wait(source.ready());
      const { contextLength } = source;
      const policy = { renderer, contextLength, rules, ...defined({ promptLimit }) };
      const prepared = await abort.wait(prepareCall(policy, call, abort.signal));
      call.onPrompt?.(prepared.tokens.length);
      const running = new TokenCall(call, prepared, renderer);
      const { samples, ...sampled } = await running.sample(source);
      const { firstTokenMark, adapter } = running;
      return {
        prepared,
        completions: samples.map((sample, choice) => running.finish(sample, choice)),
        ...sampled,
        ...defined({ firstTokenMark, adapter }),
      };
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
