/**
 * From a parsed request to the HTTP response, for every protocol: the call with its deadline, and the
 * choice between a whole response and a stream. Knows no wire format.
 */
import type { BodyLease } from "../http/body-budget.ts";
import { CallAbort } from "../call/call-abort.ts";
import type { CallRequest } from "../call/call-request.ts";
import { runCall, type CallContext, type FinishedCall } from "../call/call.ts";
import { unenforcedOf } from "../call/output-form.ts";
import type { TextDelta } from "../../core/policy.ts";
import type { GatewayContext } from "../gateway-context.ts";
import { EventStream } from "../http/event-stream.ts";
import type { JsonFields } from "../../util/json-object.ts";
import type { SessionRoute } from "../http/path.ts";
import { JsonReply, type MoreHeaders, type Reply, unenforcedHeaders } from "../http/reply.ts";
import type { CaptureSession } from "../session/session.ts";
import { headersAfterMs, replyInTime } from "./early-json.ts";
import { type FieldTable, ignoredFields } from "./fields/field-table.ts";
import {
  identifyCall,
  rememberCall,
  repeatResponse,
  type ResponseWriter,
} from "./repeated-call.ts";

/** What every route of a session gets. The caller has checked that the session is the client's. */
export interface RouteContext {
  readonly gateway: GatewayContext;
  readonly session: CaptureSession;
  readonly route: SessionRoute;
  readonly request: Request;
  /** Of the request's bytes; ends with the route, or later where it says so. */
  readonly lease: Pick<BodyLease, "until">;
}

/** A running call as one protocol streams it. */
export interface CallStream {
  /** Called before anything is sampled. */
  begin(promptTokens: number): void;
  delta(choice: number, delta: TextDelta): void;
  finish(call: FinishedCall): void;
  /** An error after the headers have been sent. */
  fail(error: unknown): void;
}

/** A parsed request and how its response is written. */
export interface ProtocolCall {
  readonly body: JsonFields;
  /** What becomes of the fields of the body. */
  readonly fields: FieldTable;
  /** Of the response's id. */
  readonly idPrefix: string;
  readonly call: CallRequest;
  /** Null for a whole response. */
  readonly stream: ((events: EventStream, responseId: string) => CallStream) | null;
  readonly whole: (call: FinishedCall) => object;
}

/** Runs the call once the gateway lets it begin. */
async function begin(context: RouteContext, call: CallContext): Promise<FinishedCall> {
  const { gateway, session } = context;
  const { abort } = call;
  const onFailure = (error: unknown): void => {
    if (abort.cause !== "closed") session.failedCalls.failed(error, call, abort.cause === "client");
  };
  if (gateway.gate.paused !== null) {
    try {
      await gateway.gate.admit(gateway.requestTimeoutMs, abort.signal);
    } catch (error) {
      onFailure(error);
      abort.dispose();
      throw error;
    }
  }
  abort.start();
  // Known before the session has no call in flight any more.
  const run = async (): Promise<FinishedCall> => {
    try {
      const result = await runCall(call);
      session.failedCalls.succeeded(call);
      return result;
    } catch (error) {
      onFailure(error);
      throw error;
    }
  };
  try {
    const result = await session.track(abort, run);
    rememberCall(context, call.request, result);
    const { neededTokens } = result.completions[0] ?? {};
    if (neededTokens !== undefined)
      gateway.ignored.noteExcluded(call.request.protocol, neededTokens);
    return result;
  } catch (error) {
    onFailure(error);
    rememberCall(context, call.request, null);
    throw error;
  }
}

async function responseStream(
  context: RouteContext,
  call: CallContext,
  open: (events: EventStream) => CallStream,
  headers: MoreHeaders,
): Promise<EventStream> {
  const { gateway } = context;
  const events = new EventStream(() => {
    call.abort.abort("client");
  }, headers);
  const stream = open(events);
  let sendHeaders: (() => void) | undefined;
  const begun = new Promise<void>((resolve) => {
    sendHeaders = resolve;
  });
  // Clients give up on a server that is silent for too long.
  const late = setTimeout(() => sendHeaders?.(), headersAfterMs(gateway));
  const running = begin(context, {
    ...call,
    onPrompt: (promptTokens) => {
      stream.begin(promptTokens);
    },
    onDelta: (choice, delta) => {
      stream.delta(choice, delta);
      sendHeaders?.();
    },
  });
  context.lease.until(running);
  // Until there is text, a failure can still have its own status.
  try {
    await Promise.race([begun, running]);
  } finally {
    clearTimeout(late);
  }
  events.keepAlive(gateway.keepAliveMs);
  running
    .then((result) => {
      stream.finish(result);
    })
    .catch((error: unknown) => {
      stream.fail(error);
      gateway.report(error);
    })
    .finally(() => {
      events.close();
    });
  return events;
}

/** @throws what the call throws before anything was sent. */
export async function handleCall(
  context: RouteContext,
  { body, fields, idPrefix, call, stream, whole }: ProtocolCall,
): Promise<Reply> {
  const { gateway, request, session } = context;
  gateway.ignored.note(call.protocol, ignoredFields(body, fields));
  // Servers that render have their own way; a template knows on and off.
  if (call.effort !== undefined && call.thinking === true && !gateway.target.abilities.serverFields)
    gateway.ignored.note(call.protocol, ["level of reasoning effort"]);
  const { responseId, lost } = identifyCall(context, call, idPrefix);
  const open = stream && ((events: EventStream) => stream(events, responseId));
  const reply =
    lost === undefined
      ? await newReply(context, call, responseId, { stream: open, whole })
      : repeatResponse(lost, { stream: open, whole });
  gateway.exchanges?.follow(request, { session: session.uid, response: responseId }, reply);
  return reply;
}

async function newReply(
  context: RouteContext,
  request: CallRequest,
  responseId: string,
  { stream, whole }: ResponseWriter<CallStream>,
): Promise<Reply> {
  const { gateway, session, route } = context;
  const { abilities, renderer } = gateway.target;
  const abort = new CallAbort(gateway.requestTimeoutMs);
  abort.followClient(context.request);
  // A server that renders messages is told the form, and has its own way.
  const given = { isApplied: abilities.rules, group: session.uid, signal: abort.signal };
  let unenforced: readonly string[] = [];
  try {
    if (!abilities.serverFields)
      unenforced = await abort.before(unenforcedOf(request, renderer, given));
  } catch (error) {
    abort.dispose();
    throw error;
  }
  gateway.ignored.noteUnenforced(request.protocol, unenforced);
  const headers = unenforcedHeaders(unenforced);
  const { target } = gateway;
  const { trajectoryUid } = route;
  const own = { target, session, trajectoryUid, request, abort, responseId };
  const call: CallContext = unenforced.length === 0 ? own : { ...own, unenforced };
  if (stream) return responseStream(context, call, stream, headers);
  const work = begin(context, call).then((result) => new JsonReply(whole(result), headers));
  context.lease.until(work);
  const onLeave = (): void => {
    abort.abort("client");
  };
  return replyInTime(gateway, context.request.url, work, onLeave, headers);
}
