/** A request to a served model, and what it says about itself. */
import { randomBytes } from "node:crypto";
import { defined } from "../../util/defined.ts";
import { isJsonObject } from "../../util/json-object.ts";

/** What of it matters here. */
export interface ModelRequest {
  /** What follows `/v1/`. */
  readonly path: string;
  readonly body: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly headers: Headers;
  readonly signal: AbortSignal;
}

/** What its call is recorded with, so that feedback finds it. */
export interface CallOrigin {
  readonly traceId: string;
  /** As the client named it. */
  readonly conversationId?: string;
  readonly user?: string;
}

/** As long as feedback may name. */
const maxChars = 512;

function textOf(value: unknown): string | undefined {
  const text = isJsonObject(value) ? value["id"] : value;
  return typeof text === "string" && text !== "" && text.length <= maxChars ? text : undefined;
}

/** The trace of W3C's `traceparent`, so that a program's telemetry and its feedback name the same one. */
function traceIdOf(headers: Headers): string {
  const given = /^[0-9a-f]{2}-([0-9a-f]{32})-/u.exec(headers.get("traceparent") ?? "")?.[1];
  return given ?? randomBytes(16).toString("hex");
}

/**
 * The conversation is that of the header `x-conversation-id`, else `conversation` or `metadata.conversation_id` of
 * the body; the user is `user`, `safety_identifier` or `metadata.user_id`.
 */
export function callOrigin({ fields, headers }: ModelRequest): CallOrigin {
  const metadata = isJsonObject(fields["metadata"]) ? fields["metadata"] : {};
  const conversationId =
    textOf(headers.get("x-conversation-id")) ??
    textOf(fields["conversation"]) ??
    textOf(metadata["conversation_id"]);
  const user =
    textOf(fields["user"]) ?? textOf(fields["safety_identifier"]) ?? textOf(metadata["user_id"]);
  return { traceId: traceIdOf(headers), ...defined({ conversationId, user }) };
}
