/** A running call as server-sent events in Anthropic's shape. Blocks follow one another, each closed before the next. */
import type { ToolCall } from "../../../core/message.ts";
import { usageOf } from "../../call/call-request.ts";
import type { FinishedCall, FinishedChoice } from "../../call/call.ts";
import type { TextDelta } from "../../../core/policy.ts";
import { errorBody, messagesErrors } from "../../http/error-response.ts";
import type { CallStream } from "../handle-call.ts";
import type { EventStream } from "../../http/event-stream.ts";
import { inputText, signature, stopFields, toWireMessageHead, toWireUsage } from "./response.ts";

export interface MessagesStreamOptions {
  readonly responseId: string;
  readonly model: string;
}

/** Writes one response. */
export class MessagesStream implements CallStream {
  readonly #options: MessagesStreamOptions;
  readonly #events: EventStream;
  /** Index of the block that is open, or of the next one. */
  #index = 0;
  #open: "text" | "thinking" | null = null;

  constructor(options: MessagesStreamOptions, events: EventStream) {
    this.#options = options;
    this.#events = events;
  }

  begin(promptTokens: number): void {
    const { responseId, model } = this.#options;
    const head = toWireMessageHead(responseId, model);
    const usage = toWireUsage({ promptTokens, completionTokens: 0 });
    this.#events.typed("message_start", { message: { ...head, usage } });
    this.#events.typed("ping", {});
  }

  delta(_choice: number, { content, reasoning }: TextDelta): void {
    if (reasoning !== "") {
      this.#ensure("thinking", { thinking: "", signature: "" });
      this.#write({ type: "thinking_delta", thinking: reasoning });
    }
    if (content !== "") {
      this.#ensure("text", { text: "" });
      this.#write({ type: "text_delta", text: content });
    }
  }

  finish(call: FinishedCall): void {
    const [completion] = call.completions as readonly [FinishedChoice];
    this.delta(0, completion.rest);
    this.#close();
    for (const toolCall of completion.message.toolCalls ?? []) this.#toolUse(toolCall);
    this.#events.typed("message_delta", {
      delta: stopFields(completion),
      usage: toWireUsage(usageOf(call)),
    });
    this.#events.typed("message_stop", {});
  }

  fail(error: unknown): void {
    this.#events.write(JSON.stringify(errorBody(error, messagesErrors)), "error");
  }

  #toolUse(call: ToolCall): void {
    const { id, name } = call;
    this.#start({ type: "tool_use", id, name, input: {} });
    this.#write({ type: "input_json_delta", partial_json: "" });
    this.#write({ type: "input_json_delta", partial_json: inputText(call) });
    this.#stop();
  }

  #ensure(type: "text" | "thinking", fields: object): void {
    if (this.#open === type) return;
    this.#close();
    this.#start({ type, ...fields });
    this.#open = type;
  }

  #close(): void {
    if (this.#open === null) return;
    if (this.#open === "thinking") this.#write({ type: "signature_delta", signature });
    this.#stop();
    this.#open = null;
  }

  #start(block: object): void {
    this.#events.typed("content_block_start", { index: this.#index, content_block: block });
  }

  #write(delta: object): void {
    this.#events.typed("content_block_delta", { index: this.#index, delta });
  }

  #stop(): void {
    this.#events.typed("content_block_stop", { index: this.#index++ });
  }
}
