/** Which path under a session's `/v1` speaks which protocol, and how its requests become calls. */
import { ContextOverflowError } from "../../core/errors.ts";
import { readJsonObject } from "../http/body.ts";
import type { Reply } from "../http/reply.ts";
import { handleCall, type RouteContext } from "./handle-call.ts";
import { chatFields } from "./chat/refusals.ts";
import { parseChatRequest } from "./chat/request.ts";
import { toWireCompletion } from "./chat/response.ts";
import { ChatStream } from "./chat/stream.ts";
import { completionsFields, parseCompletionsRequest } from "./completions/request.ts";
import { toTextCompletion } from "./completions/response.ts";
import { CompletionsStream } from "./completions/stream.ts";
import { hasBillingLine } from "./messages/content.ts";
import { messagesFields, parseMessagesRequest, parsePrompt } from "./messages/request.ts";
import { toWireResponse } from "./messages/response.ts";
import { MessagesStream } from "./messages/stream.ts";
import { handleConversations } from "./responses/conversations.ts";
import { handleResponses } from "./responses/handle.ts";

/** Handles a POST. */
export type ProtocolRoute = (context: RouteContext) => Promise<Reply>;

async function handleChat(context: RouteContext): Promise<Reply> {
  const { model, target } = context.gateway;
  const body = await readJsonObject(context.request, context.gateway);
  const { call, stream, includeUsage, logprobs } = parseChatRequest(body, model, target.abilities);
  const options = { model, renderer: target.renderer, logprobs };
  return handleCall(context, {
    body,
    fields: chatFields,
    idPrefix: "chatcmpl-",
    call,
    stream: stream
      ? (events, responseId) =>
          new ChatStream({ ...options, responseId, n: call.n, includeUsage }, events)
      : null,
    whole: (result) => toWireCompletion(result, options),
  });
}

async function handleCompletions(context: RouteContext): Promise<Reply> {
  const { model, target } = context.gateway;
  const { renderer, abilities, contextLength = Infinity } = target;
  const body = await readJsonObject(context.request, context.gateway);
  const decode = (ids: Int32Array): string => {
    // Before millions of ids become text.
    if (ids.length >= contextLength) throw new ContextOverflowError(ids.length, contextLength);
    return renderer.decode(ids);
  };
  const parsed = parseCompletionsRequest(body, model, abilities, decode);
  const { call, stream, includeUsage, logprobs } = parsed;
  const options = { model, renderer, logprobs };
  return handleCall(context, {
    body,
    fields: completionsFields,
    idPrefix: "cmpl-",
    call,
    stream: stream
      ? (events, responseId) =>
          new CompletionsStream({ ...options, responseId, includeUsage }, events)
      : null,
    whole: (result) => toTextCompletion(result, options),
  });
}

async function handleMessages(context: RouteContext): Promise<Reply> {
  const { model, target } = context.gateway;
  const body = await readJsonObject(context.request, context.gateway);
  const { call, stream } = parseMessagesRequest(body, model, target.abilities);
  if (hasBillingLine(body))
    context.gateway.ignored.note(call.protocol, ["x-anthropic-billing-header in system"]);
  return handleCall(context, {
    body,
    fields: messagesFields,
    idPrefix: "msg_",
    call,
    stream: stream
      ? (events, responseId) => new MessagesStream({ responseId, model }, events)
      : null,
    whole: (result) => toWireResponse(result, model),
  });
}

/** Calls no model and captures nothing. */
async function countMessageTokens({ gateway, request }: RouteContext): Promise<Response> {
  const body = await readJsonObject(request, gateway);
  const { messages, tools } = parsePrompt(body, gateway.target.abilities);
  const { gate, requestTimeoutMs, target } = gateway;
  if (gate.paused !== null) await gate.admit(requestTimeoutMs, request.signal);
  return Response.json({ input_tokens: await target.countTokens(messages, tools) });
}

const routes: Readonly<Record<string, ProtocolRoute>> = {
  "chat/completions": handleChat,
  completions: handleCompletions,
  responses: handleResponses,
  conversations: handleConversations,
  messages: handleMessages,
  "messages/count_tokens": countMessageTokens,
};

/** Whether a route calls the model. */
export const callsModel = (route: ProtocolRoute): boolean =>
  route !== handleConversations && route !== countMessageTokens;

/** What a session offers, for clients that look for something else. */
export const offered: string =
  "POST chat/completions, completions, responses, conversations, messages and messages/count_tokens, and GET models";

/** The route of these path segments; undefined when no protocol has it. */
export function findProtocol(segments: readonly string[]): ProtocolRoute | undefined {
  // A segment was decoded once; a slash in it separates nothing.
  if (segments.some((segment) => segment.includes("/"))) return undefined;
  // Anthropic's clients add another "/v1" to the base URL, Azure's the name of the model.
  const own = segments[0] === "v1" ? segments.slice(1) : segments;
  const path = own.join("/").replace(/^deployments\/.+?\/(?=(?:chat\/)?completions$)/, "");
  return Object.hasOwn(routes, path) ? routes[path] : undefined;
}
