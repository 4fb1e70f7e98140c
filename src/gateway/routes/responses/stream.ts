/** A running call as server-sent events of OpenAI's Responses API. Items follow one another, each done before the next. */
import type { ToolCall } from "../../../core/message.ts";
import { toApiError } from "../../http/api-error.ts";
import type { FinishedCall, FinishedChoice } from "../../call/call.ts";
import type { TextDelta } from "../../../core/policy.ts";
import type { CallStream } from "../handle-call.ts";
import type { EventStream } from "../../http/event-stream.ts";
import { itemId, type ItemKind } from "./item-ids.ts";
import {
  callItem,
  completionLogprobs,
  completionStatus,
  messageItem,
  outputText,
  reasoningItem,
  toResponse,
  toResponseHead,
  type ResponsesOptions,
  type Wire,
} from "./response.ts";

type Kind = "output_text" | "reasoning_text";

interface OpenItem {
  readonly kind: Kind;
  readonly id: string;
  text: string;
}

/** Writes one response. */
export class ResponsesStream implements CallStream {
  readonly #options: ResponsesOptions;
  readonly #events: EventStream;
  readonly #createdAt = Math.floor(Date.now() / 1000);
  #sequence = 0;
  /** Index of the item that is open, or of the next one. */
  #index = 0;
  readonly #counts: Record<ItemKind, number> = { fc: 0, msg: 0, rs: 0 };
  #open: OpenItem | null = null;

  readonly #store: (call: FinishedCall) => void;

  /** @param store called before the client can know that the response is complete */
  constructor(options: ResponsesOptions, events: EventStream, store: (call: FinishedCall) => void) {
    this.#options = options;
    this.#events = events;
    this.#store = store;
  }

  begin(): void {
    const response = toResponseHead(this.#options, this.#createdAt);
    this.#write("response.created", { response });
    this.#write("response.in_progress", { response });
  }

  delta(_choice: number, { content, reasoning }: TextDelta): void {
    if (reasoning !== "") this.#say("reasoning_text", reasoning);
    if (content !== "") this.#say("output_text", content);
  }

  finish(call: FinishedCall): void {
    this.#store(call);
    const [completion] = call.completions as readonly [FinishedChoice];
    this.delta(0, completion.rest);
    const { toolCalls = [] } = completion.message;
    if (this.#open?.kind !== "output_text" && this.#isSilent(completion)) {
      this.#start("output_text");
    }
    this.#close(completion);
    for (const toolCall of toolCalls) this.#call(toolCall);
    const response = toResponse(call, this.#options, this.#createdAt);
    this.#write(`response.${completionStatus(completion)}`, { response });
  }

  fail(error: unknown): void {
    const { message, reason, status } = toApiError(error);
    const code = reason ?? (status >= 500 ? "server_error" : "invalid_request");
    const head = toResponseHead(this.#options, this.#createdAt);
    const response = { ...head, status: "failed", error: { code: "server_error", message } };
    this.#write("response.failed", { response });
    // Clients that read the events one by one throw at this one only.
    this.#write("error", { code, message, param: null, error: { code, message } });
  }

  /** Neither text nor calls: the message item is there all the same, and empty. */
  #isSilent({ message }: FinishedChoice): boolean {
    return !message.toolCalls && message.content === "";
  }

  #say(kind: Kind, text: string): void {
    if (this.#open?.kind !== kind) this.#close();
    const open = this.#open ?? this.#start(kind);
    open.text += text;
    const extra = kind === "output_text" ? { logprobs: [] } : {};
    this.#part(`response.${kind}.delta`, open, { delta: text, ...extra });
  }

  #start(kind: Kind): OpenItem {
    const spoken = kind === "output_text";
    const id = this.#nextId(spoken ? "msg" : "rs");
    const open: OpenItem = { kind, id, text: "" };
    this.#open = open;
    const item = spoken
      ? messageItem(id, null, "in_progress")
      : reasoningItem(id, null, "in_progress");
    this.#item("response.output_item.added", item);
    const part = spoken ? outputText("") : { type: kind, text: "" };
    this.#part("response.content_part.added", open, { part });
    return open;
  }

  /** `completion` is known when the whole response is. */
  #close(completion?: FinishedChoice): void {
    const open = this.#open;
    if (!open) return;
    const { id, kind, text } = open;
    const spoken = kind === "output_text";
    const logprobs = completion ? completionLogprobs(completion, this.#options) : [];
    this.#part(`response.${kind}.done`, open, { text, ...(spoken ? { logprobs } : {}) });
    const part = spoken ? outputText(text, logprobs) : { type: kind, text };
    this.#part("response.content_part.done", open, { part });
    const status = completion ? completionStatus(completion) : "completed";
    const item = spoken ? messageItem(id, part, status) : reasoningItem(id, text, status);
    this.#item("response.output_item.done", item);
    this.#index++;
    this.#open = null;
  }

  #call(call: ToolCall): void {
    const id = this.#nextId("fc");
    const place = { item_id: id, output_index: this.#index };
    const { arguments: text, name } = call;
    this.#item(
      "response.output_item.added",
      callItem(id, { ...call, arguments: "" }, "in_progress"),
    );
    this.#write("response.function_call_arguments.delta", { ...place, delta: text });
    this.#write("response.function_call_arguments.done", { ...place, name, arguments: text });
    this.#item("response.output_item.done", callItem(id, call, "completed"));
    this.#index++;
  }

  #nextId(kind: ItemKind): string {
    const { responseId } = this.#options;
    return itemId({ kind, responseId, index: this.#counts[kind]++ });
  }

  #item(type: string, item: Wire): void {
    this.#write(type, { output_index: this.#index, item });
  }

  #part(type: string, { id }: OpenItem, fields: object): void {
    this.#write(type, { item_id: id, output_index: this.#index, content_index: 0, ...fields });
  }

  #write(type: string, fields: object): void {
    this.#events.typed(type, { sequence_number: this.#sequence++, ...fields });
  }
}
