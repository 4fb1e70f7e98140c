/**
 * The calls that were served, and the feedback on them: kept in a production store, and looked up by the ids that a
 * client knows. After a restart both are read from the store again.
 */
import { createHash } from "node:crypto";
import type { Trace } from "../../core/trace.ts";
import { callOfTrace } from "../own-calls.ts";
import {
  type Feedback,
  type FeedbackInput,
  scoreOf,
  toFeedback,
} from "../../production/store/feedback.ts";
import {
  ProductionStore,
  readFeedback,
  readSpans,
} from "../../production/store/production-store.ts";
import type { Span } from "../../production/store/span.ts";
import { ApiError } from "../../gateway/http/api-error.ts";
import { show } from "../../gateway/http/json-fields.ts";
import { defined } from "../../util/defined.ts";
import { OneAfterAnother } from "../../util/one-after-another.ts";
import type { CallOrigin } from "./model-request.ts";

/** What spans of served calls are recorded with. */
const source = "serve";
/** Calls that feedback may be about; of older ones, it is refused as unknown. */
const maxCalls = 200_000;
/** Of a conversation. */
const maxTurns = 100;

/** A call as feedback finds it. */
export interface ServedCall {
  /** Of the span. */
  readonly id: string;
  readonly version: string;
  readonly weightVersion?: number;
  /** When it began. */
  readonly at: number;
}

function toSpan(trace: Trace, version: string, origin: CallOrigin): Span {
  const { traceId, conversationId, user } = origin;
  return {
    traceId,
    id: trace.id,
    parentId: null,
    name: `serve ${trace.model}`,
    kind: "model",
    startMs: trace.startedAt,
    endMs: trace.finishedAt,
    ...defined({ conversationId, user }),
    model: { ...callOfTrace(trace), model: version },
    source,
  };
}

type About = Pick<Feedback, "responseId" | "traceId" | "conversationId" | "at">;

/** What became of feedback, as clients see it. */
export interface FeedbackReply {
  readonly accepted: number;
  /** Said before in the same words, by the same user: kept once. */
  readonly duplicates: number;
  /** That it is about. */
  readonly versions: readonly string[];
}

function unknownCall({ responseId, traceId, conversationId }: Feedback): ApiError {
  const id = responseId ?? traceId ?? conversationId;
  const what =
    responseId !== undefined ? "response" : traceId !== undefined ? "trace" : "conversation";
  return new ApiError({
    status: 404,
    message: `Nothing was served here for the ${what} ${show(id)}, so no version has this feedback, and none of the request was kept.`,
    reason: "unknown_call",
    retry: false,
  });
}

/** What one person said of one call; what they say later replaces it, but words without a score keep the score. */
interface Said {
  /** That responded. */
  readonly version: string;
  /** Hash of the latest. */
  readonly words: string;
  readonly score: number | null;
}

const keyOf = (call: ServedCall, { user = "" }: Feedback): string => `${call.id} ${user}`;

function wordsOf({ at: _at, weightVersion: _version, ...said }: Feedback): string {
  return createHash("sha256").update(JSON.stringify(said)).digest("base64");
}

/** Pieces of feedback from 0 (bad) to 1 (good), and their sum. */
export interface Tally {
  readonly n: number;
  readonly sum: number;
}

/** Removes the oldest, where there are more than `most`. */
function forgetOldest(map: Map<string, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) break;
    map.delete(key);
  }
}

export class ServedCalls implements AsyncDisposable {
  readonly #store: ProductionStore;
  readonly #onWarning: (message: string) => void;
  /** By the ids that feedback names: of a response, a trace, a conversation; in order. */
  readonly #calls = new Map<string, ServedCall[]>();
  /** By the call and the user; in order. */
  readonly #said = new Map<string, Said>();
  readonly #turn = new OneAfterAnother();
  /** Feedback that was refused because nothing served has its id. */
  unknown = 0;
  duplicates = 0;
  /** Calls that could not be written. */
  lost = 0;

  constructor(folder: string, onWarning: (message: string) => void = () => {}) {
    this.#store = new ProductionStore(folder);
    this.#onWarning = onWarning;
    for (const span of readSpans(folder)) if (span.source === source) this.#index(span);
    for (const feedback of readFeedback(folder)) this.#count(feedback);
  }

  /** Keeps calls of a version. A full disk loses them and fails no call. */
  async add(traces: readonly Trace[], version: string, origin: CallOrigin): Promise<void> {
    const spans = traces.map((trace) => toSpan(trace, version, origin));
    for (const span of spans) this.#index(span);
    try {
      await this.#store.addSpans(spans);
    } catch (error) {
      if (this.lost++ === 0)
        this.#onWarning(
          `Served calls cannot be kept: ${error instanceof Error ? error.message : String(error)}`,
        );
    }
  }

  /** The response itself, or the last call of a trace or a conversation that had begun by then. */
  find({ responseId, traceId, conversationId, at }: About): ServedCall | undefined {
    const name =
      responseId !== undefined
        ? `r ${responseId}`
        : traceId !== undefined
          ? `t ${traceId}`
          : `c ${conversationId}`;
    const calls = this.#calls.get(name);
    return calls?.findLast((call) => call.at <= at) ?? calls?.[0];
  }

  /**
   * Keeps feedback, all of it or none; what was said before in the same words is kept once.
   * @throws AgentTrainerError REQUEST_INVALID for what is no feedback, or about nothing that was served.
   */
  async addFeedback(given: readonly FeedbackInput[]): Promise<FeedbackReply> {
    const all = given.map((one) => toFeedback(one));
    // One after the other: a repetition is one only of what was kept.
    return this.#turn.run(() => this.#addFeedback(all));
  }

  async #addFeedback(all: readonly Feedback[]): Promise<FeedbackReply> {
    const known = all.flatMap((feedback) => {
      const call = this.find(feedback);
      return call === undefined ? [] : [{ feedback, call }];
    });
    if (known.length < all.length) {
      this.unknown += all.length - known.length;
      throw unknownCall(all.find((one) => this.find(one) === undefined) as Feedback);
    }
    const said = new Map<string, string>();
    const fresh = known.filter(({ feedback, call }) => {
      const [key, words] = [keyOf(call, feedback), wordsOf(feedback)];
      if ((said.get(key) ?? this.#said.get(key)?.words) === words) return false;
      said.set(key, words);
      return true;
    });
    this.duplicates += all.length - fresh.length;
    await this.#store.addFeedback(
      fresh.map(({ feedback, call: { weightVersion } }) => ({
        ...feedback,
        ...defined({ weightVersion }),
      })),
    );
    for (const { feedback } of fresh) this.#count(feedback);
    const versions = [...new Set(known.map(({ call }) => call.version))];
    return { accepted: fresh.length, duplicates: all.length - fresh.length, versions };
  }

  /** Of all feedback with a score, by version. */
  versions(): ReadonlyMap<string, Tally> {
    const tallies = new Map<string, Tally>();
    for (const { version, score } of this.#said.values()) {
      if (score === null) continue;
      const { n, sum } = tallies.get(version) ?? { n: 0, sum: 0 };
      tallies.set(version, { n: n + 1, sum: sum + score });
    }
    return tallies;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store.close();
  }

  #index({ id, traceId, conversationId, startMs, model }: Span): void {
    if (model === undefined) return;
    const { weightVersion } = model;
    const call = { id, version: model.model, at: startMs, ...defined({ weightVersion }) };
    const names = [
      ...(model.responseId === undefined ? [] : [`r ${model.responseId}`]),
      `t ${traceId}`,
      ...(conversationId === undefined ? [] : [`c ${conversationId}`]),
    ];
    for (const name of names) {
      const calls = this.#calls.get(name) ?? [];
      // Used last, forgotten last.
      this.#calls.delete(name);
      this.#calls.set(name, [...calls.slice(-maxTurns), call]);
    }
    forgetOldest(this.#calls, 3 * maxCalls);
  }

  #count(feedback: Feedback): void {
    const call = this.find(feedback);
    if (call === undefined) return;
    const key = keyOf(call, feedback);
    const score = scoreOf(feedback) ?? this.#said.get(key)?.score ?? null;
    this.#said.delete(key);
    this.#said.set(key, { version: call.version, words: wordsOf(feedback), score });
    forgetOldest(this.#said, 3 * maxCalls);
  }
}
