/**
 * What the gateway requires of a target of model calls: a neutral call in, deltas while it runs, a
 * captured completion at the end. Knows neither wire formats of clients nor stores.
 */
import type { ChatMessage, ToolDefinition } from "../../core/message.ts";
import type { Renderer, TextDelta } from "../../core/policy.ts";
import type { Trace } from "../../core/trace.ts";
import type { CallAbort } from "../call/call-abort.ts";
import type { CallGate } from "../call/call-gate.ts";
import type { CallUsage, Completion } from "../call/call-request.ts";
import type { SessionCall } from "../call/plan-call.ts";
import type { PreparedCall, PromptLimit } from "../call/prompt.ts";

export interface TargetCall extends SessionCall {
  readonly abort: CallAbort;
  /** Text that became certain, for clients that stream. */
  readonly onDelta?: (choice: number, delta: TextDelta) => void;
  /** Receives the prompt's length in tokens once, before the first delta; 0 where it is not known. */
  readonly onPrompt?: (promptTokens: number) => void;
}

/** What is still to be sent of a choice after its last delta. */
export interface FinishedChoice extends Completion {
  readonly rest: TextDelta;
}

export interface TargetResponse {
  readonly prepared: PreparedCall;
  readonly completions: readonly FinishedChoice[];
  readonly logprobKind: Trace["logprobKind"];
  /** Id of the worker that sampled. */
  readonly worker?: string;
  /** @see Trace.adapter */
  readonly adapter?: string | null;
  /** The version of the weights is not known. */
  readonly isVersionUnknown?: true;
  /** When the first part of the response was there, by `performance.now()`. */
  readonly firstTokenMark?: number;
  /** Why the call cannot be trained on: what the server did not report. */
  readonly untrainable?: string;
  /** As the server counted; where absent, tokens are counted. */
  readonly usage?: CallUsage;
}

/** What a target supports of a request in addition to text, tools and sampling. */
export interface TargetAbilities {
  /** Messages may hold images. */
  readonly images: boolean;
  /** Alternatives to sampled tokens are reported. */
  readonly topLogprobs: boolean;
  /** `CallRequest.serverFields` are given to a server as they are; otherwise the gateway reads them. */
  readonly serverFields: boolean;
  /** `SamplingParams.rules`: formats are enforced, and logits biased. */
  readonly rules: boolean;
}

/** What samples model calls. */
export interface Target extends AsyncDisposable {
  /** Of the policy; one that reads nothing where the server renders. */
  readonly renderer: Renderer;
  readonly abilities: TargetAbilities;
  /** Longest prompt + completion, in tokens. @default not known */
  readonly contextLength?: number;
  /**
   * Resolves as soon as the call ends, aborted calls with what was sampled.
   * @throws what rendering or sampling throws.
   */
  run(call: TargetCall): Promise<TargetResponse>;
  /** Length of the prompt that these messages would make. */
  countTokens(
    messages: readonly ChatMessage[],
    tools: readonly ToolDefinition[],
  ): Promise<number> | number;
}

/** What targets get of the gateway. */
export interface TargetServices {
  /** The name that the gateway gives its model. */
  readonly model: string;
  /** Has the version of the weights, and holds calls while they change. */
  readonly gate: CallGate;
  readonly requestTimeoutMs: number;
  /** @default none */
  readonly promptLimit?: PromptLimit;
  /** Receives failures that belong to no call. */
  readonly report: (error: unknown) => void;
}
