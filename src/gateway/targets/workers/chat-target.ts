/**
 * Servers that render messages and read completions themselves. What they report of ids and log-probabilities
 * is captured; where they do not, the call is marked untrainable and says why.
 */
import { createCompletionReader } from "../../../core/completion-reader.ts";
import type { Renderer } from "../../../core/policy.ts";
import { hasPrefix } from "../../../util/token-prefix.ts";
import type { CallGate } from "../../call/call-gate.ts";
import { ApiError } from "../../http/api-error.ts";
import { toolCallId } from "../../call/completion.ts";
import type { CallRequest, TokenText } from "../../call/call-request.ts";
import { chainMessages, type MessageChain } from "../../session/conversation.ts";
import { planCall, type CallPlan } from "../../call/plan-call.ts";
import type { FinishedChoice, Target, TargetResponse, TargetCall } from "../target.ts";
import { defined } from "../../../util/defined.ts";
import { ResponseCollector } from "./response-collector.ts";
import { callChat } from "./chat-call.ts";
import type { ChoiceCollector } from "./choice-collector.ts";
import { countTokens } from "./count-tokens.ts";
import type { Dispatcher } from "./pool/dispatcher.ts";
import type { UpstreamRequests } from "./requests/upstream-requests.ts";
import { logprobKindOf } from "./pool/worker.ts";
import type { WorkerPool } from "./pool/worker-pool.ts";

export interface ChatTargetOptions {
  readonly workerPool: WorkerPool;
  readonly dispatcher: Dispatcher;
  readonly upstream: UpstreamRequests;
  readonly gate: CallGate;
  /** Bounds a whole response; that of a token source has its first byte last. */
  readonly requestTimeoutMs: number;
}

/** Servers give more alternatives than were requested, the sampled token among them. */
function cutTo({ topLogprobs, ...token }: TokenText, count: number): TokenText {
  return {
    ...token,
    topLogprobs: topLogprobs.toSorted((a, b) => b.logprob - a.logprob).slice(0, count),
  };
}

function finishChoice(
  choice: ChoiceCollector,
  index: number,
  call: TargetCall,
  plan: CallPlan,
  weightVersion: number,
): FinishedChoice {
  const { content, reasoning, stopString, texts } = choice;
  const { stops, topLogprobs: requested = 0 } = call.request;
  const toolCalls = choice.toolCalls.map((each, i) => ({
    ...each,
    id: each.id === "" ? toolCallId(`${index}:${plan.sampleKey}`, i) : each.id,
  }));
  return {
    choice: index,
    message: {
      role: "assistant",
      content,
      ...(reasoning === undefined || reasoning === "" ? {} : { reasoning }),
      ...(toolCalls.length === 0 ? {} : { toolCalls }),
    },
    stopReason: choice.stopReason,
    ...(choice.isFiltered ? { isFiltered: true } : {}),
    ...(stopString !== undefined && stops.includes(stopString) ? { stopString } : {}),
    tokens: Int32Array.from(choice.tokens),
    logprobs: Float32Array.from(choice.logprobs),
    weightVersion,
    ...(texts.length === 0 ? {} : { tokenTexts: texts.map((each) => cutTo(each, requested)) }),
    rest: { content: "", reasoning: "" },
  };
}

/** Why what the server reported is not enough to train on. */
function lackOf(
  response: ResponseCollector,
  { serverFields = {}, toolChoice }: CallRequest,
): string | undefined {
  const { promptIds, choices } = response;
  if (choices.some(({ isFiltered }) => isFiltered)) return "the server's content filter ended it";
  // By these a server masks what the model may sample.
  const isFormat = "response_format" in serverFields;
  const forced = isFormat
    ? "response_format"
    : toolChoice?.mustCall === true
      ? "tool_choice"
      : undefined;
  if (forced !== undefined) {
    return `${forced} forced the answer, so its log-probabilities are not the policy's`;
  }
  if (choices.some((choice) => choice.tokens.length === 0)) {
    return "the server returned no token ids of its answer";
  }
  if (!promptIds || promptIds.length === 0) return "the server returned no token ids of the prompt";
  return response.doubt();
}

/** The earlier call whose tokens the prompt begins with, proven id by id. */
function parentOf(call: TargetCall, chain: MessageChain, prompt: Int32Array): string | null {
  const { session, request, trajectoryUid } = call;
  if (request.rawPrompt !== undefined) return session.rawPrompts.parentOf(prompt);
  const match = session.conversation.match(request.messages, chain, trajectoryUid);
  return match && hasPrefix(prompt, match.node.tokens) ? match.node.traceId : null;
}

/** Reads nothing: servers render. */
const serverRenderer: Renderer = {
  family: "server",
  stop: { tokenIds: [], strings: [] },
  render() {
    throw new ApiError({
      status: 501,
      message: "This gateway has no renderer: its workers render messages themselves.",
      reason: "no_renderer",
      retry: false,
    });
  },
  extend: () => null,
  parse: () => ({ content: "", toolCalls: [] }),
  reader: () => createCompletionReader({ decode: () => "" }),
  decode: () => "",
};

export function createChatTarget(options: ChatTargetOptions): Target {
  const { workerPool, dispatcher, upstream, gate, requestTimeoutMs } = options;

  async function run(call: TargetCall): Promise<TargetResponse> {
    const { request, session, abort, trajectoryUid, onPrompt } = call;
    const chain = chainMessages(request.messages, request.tools);
    // The prompt's ids are not known yet, so its messages identify it.
    const plan = planCall(call, JSON.stringify(request.rawPrompt ?? chain.at(-1)));
    let isCommitted = false;
    let isBegun = false;
    let { weightVersion } = gate;
    let logprobKind: TargetResponse["logprobKind"] = "raw";
    let contextLength = Infinity;
    let workerId: string | undefined;
    let firstTokenMark: number | undefined;
    let response = new ResponseCollector("", request.n);
    const onBegin = ({ promptIds, usage }: ResponseCollector): void => {
      if (isBegun) return;
      isBegun = true;
      if (call.onDelta) firstTokenMark = performance.now();
      onPrompt?.(promptIds?.length ?? usage?.promptTokens ?? 0);
    };
    const onCommit = (): void => {
      isCommitted = true;
    };
    const dispatched = {
      affinity: trajectoryUid ?? session.uid,
      signal: abort.signal,
      remainingMs: () => abort.remainingMs,
      committed: () => isCommitted,
    };
    try {
      response = await abort.wait(
        dispatcher.run(dispatched, (worker, facts) => {
          ({ weightVersion } = gate);
          logprobKind = logprobKindOf(worker, facts);
          contextLength = facts.contextLength;
          workerId = worker.id;
          const params = plan.sampling;
          const limits = { upstream, requestTimeoutMs };
          return callChat(worker, facts, { ...limits, call, params, onBegin, onCommit });
        }),
      );
    } catch (error) {
      if (!abort.signal.aborted) throw error;
    }
    const { promptIds = [] } = response;
    const tokens = promptIds instanceof Int32Array ? promptIds : Int32Array.from(promptIds);
    const maxTokens = Math.min(plan.sampling.maxTokens, contextLength - tokens.length);
    const untrainable = lackOf(response, request);
    return {
      prepared: {
        sampleKey: plan.sampleKey,
        chain,
        // JSON has no Infinity.
        sampling: { ...plan.sampling, maxTokens: Math.min(maxTokens, Number.MAX_SAFE_INTEGER) },
        tokens,
        parentId: parentOf(call, chain, tokens),
      },
      completions: response.choices.map((choice, i) =>
        finishChoice(choice, i, call, plan, weightVersion ?? 0),
      ),
      logprobKind,
      ...(weightVersion === null ? { isVersionUnknown: true } : {}),
      ...defined({ worker: workerId, firstTokenMark, untrainable }),
      ...(response.usage ? { usage: response.usage } : {}),
    };
  }

  return {
    renderer: serverRenderer,
    abilities: { images: true, topLogprobs: true, serverFields: true, rules: false },
    run,
    countTokens: (messages, tools) =>
      countTokens(workerPool, dispatcher, requestTimeoutMs, { messages, tools }),
    [Symbol.asyncDispose]: async () => {
      workerPool.close();
      await upstream.close();
    },
  };
}
