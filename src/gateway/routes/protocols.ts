/** Which path under a session's `/v1` speaks which protocol. */
import type { Reply } from "../http/reply.ts";
import type { RouteContext } from "./handle-call.ts";
import { handleChat } from "./chat/handle.ts";
import { handleCompletions } from "./completions/handle.ts";
import { handleMessages, countMessageTokens } from "./messages/handle.ts";
import { handleConversations } from "./responses/conversations.ts";
import { handleResponses } from "./responses/handle.ts";

/** Handles a POST. */
export type ProtocolRoute = (context: RouteContext) => Promise<Reply>;

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
