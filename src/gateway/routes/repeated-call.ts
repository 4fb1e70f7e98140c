/** Calls that a client sends again since it did not get a response: they are captured once. */
import type { CallRequest, CallResult } from "../call/call-request.ts";
import { createResponseId, type FinishedCall } from "../call/call.ts";
import { EventStream } from "../http/event-stream.ts";
import { JsonReply, type Reply } from "../http/reply.ts";
import { messageText } from "../../core/message-text.ts";
import type { SessionRoute } from "../http/path.ts";
import type { CaptureSession } from "../session/session.ts";

/** How often the clients of OpenAI and Anthropic have tried before; other clients send nothing. */
const retryHeader = "x-stainless-retry-count";

/** Where a call came in. */
interface CallOrigin {
  readonly session: CaptureSession;
  readonly route: SessionRoute;
  readonly request: Request;
}

interface ResponseStream {
  begin(promptTokens: number): void;
  finish(call: FinishedCall): void;
}

/** How a protocol writes a response. */
export interface ResponseWriter<Stream extends ResponseStream = ResponseStream> {
  /** Null for a whole response. */
  readonly stream: ((events: EventStream) => Stream) | null;
  readonly whole: (call: FinishedCall) => object;
}

export interface CallIdentity {
  readonly responseId: string;
  /** What was captured for the same call before; undefined for a new call. */
  readonly lost: CallResult | undefined;
}

/** The id of a call's response: that of the call that it repeats, or a new one. */
export function identifyCall(
  { session, route, request }: CallOrigin,
  call: CallRequest,
  prefix: string,
): CallIdentity {
  const isRepeated = Number(request.headers.get(retryHeader) ?? 0) > 0;
  const lost = isRepeated ? session.lost.take(call, route.trajectoryUid) : undefined;
  return { responseId: lost?.responseId ?? createResponseId(prefix), lost };
}

/** Remembers how a call ended, for its client may send it again. */
export function rememberCall(
  { session, route, request }: CallOrigin,
  call: CallRequest,
  result: CallResult | null,
): void {
  if (request.headers.has(retryHeader)) session.lost.keep(call, route.trajectoryUid, result);
}

/** The captured response once more. */
export function repeatResponse(lost: CallResult, { stream, whole }: ResponseWriter): Reply {
  const completions = lost.completions.map((completion) => {
    const { content, reasoning = "" } = completion.message;
    return { ...completion, rest: { content: messageText(content, { image: "url" }), reasoning } };
  });
  const call = { ...lost, completions };
  if (stream === null) return new JsonReply(whole(call));
  const events = new EventStream(() => undefined);
  const open = stream(events);
  open.begin(call.promptTokens);
  open.finish(call);
  events.close();
  return events;
}
