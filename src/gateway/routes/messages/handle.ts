/** `POST .../v1/messages`. */
import { readJsonObject } from "../../http/body.ts";
import type { Reply } from "../../http/reply.ts";
import { handleCall, type RouteContext } from "../handle-call.ts";
import { identifyCall } from "../repeated-call.ts";
import { ignoredFields } from "../fields/field-table.ts";
import { messagesFields, parseMessagesRequest } from "./request.ts";
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
