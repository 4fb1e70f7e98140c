/**
 * What the gateway asks of whatever answers model calls: a neutral call in, deltas while it runs, a
 * captured completion at the end. Knows neither wire formats of clients nor stores.
 */
import type { ChatMessage, ToolDefinition } from "../../core/message.ts";
import type { Renderer } from "../../core/policy.ts";
import type { Trace } from "../../core/trace.ts";
import type { CallAbort } from "../call/call-abort.ts";
import type { CallRequest, CallUsage, Completion } from "../call/call-request.ts";
import type { TextDelta } from "../call/delta-reader.ts";
import type { PreparedCall } from "../call/prompt.ts";
import type { CaptureSession } from "../session/session.ts";
import type { WorkerAdmin } from "../worker-admin.ts";

export interface TargetCall {
  readonly session: CaptureSession;
  readonly trajectoryUid: string | null;
  readonly request: CallRequest;
  readonly abort: CallAbort;
  /** Text that became certain, for clients that stream. */
  readonly onDelta?: (choice: number, delta: TextDelta) => void;
  /** The prompt's length in tokens, told once, before the first delta; 0 where nobody knows it. */
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
  /** Id of the worker that answered. */
  readonly worker?: string;
  /** Nobody has told the version of the weights. */
  readonly isVersionUnknown?: true;
  /** When the first piece of the answer was there, by `performance.now()`. */
  readonly firstTokenMark?: number;
  /** Why the call cannot be trained on: what the server did not tell. */
  readonly untrainable?: string;
  /** As the server counted; where absent, tokens are counted. */
  readonly usage?: CallUsage;
}

/** What a target supports of a request beside text, tools and sampling. */
export interface TargetAbilities {
  /** Messages may hold images. */
  readonly images: boolean;
  /** Alternatives to sampled tokens are told. */
  readonly topLogprobs: boolean;
  /** `CallRequest.serverFields`. */
  readonly serverFields: boolean;
}

/** What answers model calls. */
export interface Target extends AsyncDisposable {
  /** Of the policy; one that reads nothing where the server renders. */
  readonly renderer: Renderer;
  readonly abilities: TargetAbilities;
  /** Longest prompt + completion, in tokens. @default not known */
  readonly contextLength?: number;
  /** Absent where there are no workers. */
  readonly workers?: WorkerAdmin;
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
