/** `POST .../v1/messages` and `POST .../v1/messages/count_tokens`. */
import { readJsonObject } from "../../http/body.ts";
import type { Reply } from "../../http/reply.ts";
import { handleCall, type RouteContext } from "../handle-call.ts";
import { identifyCall } from "../repeated-call.ts";
import { ignoredFields } from "../fields/field-table.ts";
import { messagesFields, parseMessagesRequest, parsePrompt } from "./request.ts";
import { toWireResponse } from "./response.ts";
import { MessagesStream } from "./stream.ts";

export async function handleMessages(context: RouteContext): Promise<Reply> {
  const { gateway, request } = context;
  const { model } = gateway;
  const body = await readJsonObject(request, gateway);
  const { call, stream } = parseMessagesRequest(body, model, gateway.target.abilities);
  gateway.ignored.note("anthropic-messages", ignoredFields(body, messagesFields));
  const { responseId, lost } = identifyCall(context, call, "msg_");
  return handleCall(context, {
    call,
    responseId,
    lost,
    stream: stream ? (events) => new MessagesStream({ responseId, model }, events) : null,
    whole: (result) => toWireResponse(result, model),
  });
}

/** Calls no model and captures nothing. */
export async function countMessageTokens({ gateway, request }: RouteContext): Promise<Response> {
  const body = await readJsonObject(request, gateway);
  const { messages, tools } = parsePrompt(body, gateway.target.abilities);
  const { gate, requestTimeoutMs, target } = gateway;
  if (gate.paused !== null) await gate.admit(requestTimeoutMs, request.signal);
  return Response.json({ input_tokens: await target.countTokens(messages, tools) });
}
