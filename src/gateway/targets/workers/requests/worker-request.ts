/** What a server is asked, as plain data, and how that is written and read. */
import type { WorkerKind } from "../../../../core/backend.ts";
import type { AnswerPiece } from "../response-part.ts";
import { chatBody, chatPath, readChatAnswer, type ChatAsk } from "../adapters/chat-wire.ts";
import type { TokenAsk, TokenDialect } from "../adapters/adapter.ts";
import { tokenDialects } from "../adapters/token-adapters.ts";

/** Messages for a server that renders them, or ids for one that takes those. */
export type Ask =
  | { readonly form: "messages"; readonly ask: ChatAsk }
  | { readonly form: "tokens"; readonly kind: WorkerKind; readonly ask: TokenAsk };

export interface Spoken {
  readonly path: string;
  readonly body: object;
  /** One answer or event. */
  readonly read: (json: unknown) => AnswerPiece;
}

/** The kind must be one that has a dialect. */
export function speak(asked: Ask): Spoken {
  if (asked.form === "messages") {
    const { ask } = asked;
    return {
      path: chatPath(ask),
      body: chatBody(ask),
      read: (json) => readChatAnswer(json, ask),
    };
  }
  const { kind, ask } = asked;
  const dialect = tokenDialects[kind] as TokenDialect;
  return {
    path: dialect.path,
    body: dialect.body(ask),
    read: (json) => dialect.read(json, ask.n),
  };
}
