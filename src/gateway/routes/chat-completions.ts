/** `POST .../v1/chat/completions`. */
import { readJsonObject } from "../body.ts";
import { CallAbort } from "../call-abort.ts";
import { createResponseId, runCall, type CallContext } from "../call.ts";
import type { GatewayContext } from "../gateway-context.ts";
import type { SessionRoute } from "../path.ts";
import type { CaptureSession } from "../session.ts";
import { parseChatRequest, type ChatRequest } from "./chat-request.ts";
import { toWireCompletion } from "./chat-response.ts";
import { ChatStream } from "./chat-stream.ts";

async function answerWhole(
  gateway: GatewayContext,
  call: CallContext,
  logprobs: boolean,
): Promise<Response> {
  const result = await call.session.track(call.abort, () => runCall(call));
  const { model, target } = gateway;
  return Response.json(toWireCompletion(result, { model, renderer: target.renderer, logprobs }));
}

async function answerStream(
  gateway: GatewayContext,
  call: CallContext,
  chat: ChatRequest,
): Promise<Response> {
  const { model, target } = gateway;
  const { abort, responseId } = call;
  const { includeUsage, logprobs } = chat;
  const options = { model, renderer: target.renderer, responseId, n: chat.call.n };
  const stream = new ChatStream({ ...options, includeUsage, logprobs }, () => {
    abort.abort("client");
  });
  let sendHeaders: (() => void) | undefined;
  const firstText = new Promise<void>((resolve) => {
    sendHeaders = resolve;
  });
  const running = call.session.track(abort, () =>
    runCall({
      ...call,
      onDelta: (choice, delta) => {
        stream.delta(choice, delta);
        sendHeaders?.();
      },
    }),
  );
  // Until there is text, a failure can still have a status of its own.
  await Promise.race([firstText, running]);
  running.then(
    (result) => {
      stream.finish(result);
    },
    (error: unknown) => {
      stream.fail(error);
      gateway.report(error);
    },
  );
  return new Response(stream.body, {
    headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" },
  });
}

/** The caller has checked that the session is the client's. */
export async function answerChat(
  gateway: GatewayContext,
  session: CaptureSession,
  route: SessionRoute,
  request: Request,
): Promise<Response> {
  const body = await readJsonObject(request, gateway.maxBodyBytes);
  const chat = parseChatRequest(body, gateway.model);
  const abort = new CallAbort(gateway.requestTimeoutMs);
  abort.followClient(request);
  const call: CallContext = {
    target: gateway.target,
    session,
    trajectoryUid: route.trajectoryUid,
    request: chat.call,
    abort,
    responseId: createResponseId(),
  };
  return chat.stream
    ? answerStream(gateway, call, chat)
    : answerWhole(gateway, call, chat.logprobs);
}
