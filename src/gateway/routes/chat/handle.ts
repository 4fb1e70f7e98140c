/** `POST .../v1/chat/completions`. */
import { readJsonObject } from "../../http/body.ts";
import type { Reply } from "../../http/reply.ts";
import { handleCall, type RouteContext } from "../handle-call.ts";
import { identifyCall } from "../repeated-call.ts";
import { ignoredFields } from "../fields/field-table.ts";
import { chatFields } from "./refusals.ts";
import { parseChatRequest } from "./request.ts";
import { toWireCompletion } from "./response.ts";
import { ChatStream } from "./stream.ts";

export async function handleChat(context: RouteContext): Promise<Reply> {
  const { gateway, request } = context;
  const body = await readJsonObject(request, gateway);
  const { call, stream, includeUsage, logprobs } = parseChatRequest(
    body,
    gateway.model,
    gateway.target.abilities,
  );
  gateway.ignored.note("openai-chat", ignoredFields(body, chatFields));
  const { responseId, lost } = identifyCall(context, call, "chatcmpl-");
  const options = { model: gateway.model, renderer: gateway.target.renderer, logprobs };
  return handleCall(context, {
    call,
    responseId,
    lost,
    stream: stream
      ? (events) => new ChatStream({ ...options, responseId, n: call.n, includeUsage }, events)
      : null,
    whole: (result) => toWireCompletion(result, options),
  });
}
