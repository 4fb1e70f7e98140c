/** A running call as server-sent events in OpenAI's shape of chat completion chunks. */
import type { FinishedCall } from "../../call/call.ts";
import type { TextDelta } from "../../../core/policy.ts";
import { chatErrors, errorBody } from "../../http/error-response.ts";
import { toWireToolCalls } from "../../http/wire.ts";
import type { CallStream } from "../handle-call.ts";
import type { EventStream } from "../../http/event-stream.ts";
import { finishReason, toWireLogprobs, toWireUsage, type ResponseOptions } from "./response.ts";

export interface ChatStreamOptions extends ResponseOptions {
  readonly responseId: string;
  readonly n: number;
  readonly includeUsage: boolean;
}

/** Writes one response. */
export class ChatStream implements CallStream {
  readonly #options: ChatStreamOptions;
  readonly #events: EventStream;
  /** The JSON that every chunk begins with. */
  readonly #head: string;

  constructor(options: ChatStreamOptions, events: EventStream) {
    const { responseId: id, model } = options;
    const created = Math.floor(Date.now() / 1000);
    this.#options = options;
    this.#events = events;
    this.#head = JSON.stringify({ id, object: "chat.completion.chunk", created, model }).slice(
      0,
      -1,
    );
  }

  begin(): void {
    for (let choice = 0; choice < this.#options.n; choice++) {
      this.#choice(choice, { role: "assistant", content: "" });
    }
  }

  delta(choice: number, delta: TextDelta): void {
    if (delta.reasoning !== "") this.#choice(choice, { reasoning_content: delta.reasoning });
    if (delta.content !== "") this.#choice(choice, { content: delta.content });
  }

  finish(call: FinishedCall): void {
    const { renderer, logprobs, includeUsage } = this.#options;
    for (const completion of call.completions) {
      const { choice, message, rest } = completion;
      this.delta(choice, rest);
      for (const [index, wire] of toWireToolCalls(message.toolCalls ?? []).entries()) {
        // As servers do it: who is called first, then the arguments, merged by index.
        const opening = { ...wire, function: { ...wire.function, arguments: "" } };
        this.#choice(choice, { tool_calls: [{ index, ...opening }] });
        const { arguments: text } = wire.function;
        this.#choice(choice, { tool_calls: [{ index, function: { arguments: text } }] });
      }
      this.#choice(choice, {}, finishReason(completion), {
        logprobs: logprobs ? toWireLogprobs(completion, renderer) : null,
      });
    }
    if (includeUsage) this.#chunk({ choices: [], usage: toWireUsage(call) });
    this.#events.write("[DONE]");
  }

  fail(error: unknown): void {
    this.#events.write(JSON.stringify(errorBody(error, chatErrors)));
  }

  #choice(
    index: number,
    delta: object,
    finish: string | null = null,
    extra: object = { logprobs: null },
  ): void {
    this.#chunk({
      choices: [{ index, delta, ...extra, finish_reason: finish }],
      ...(this.#options.includeUsage ? { usage: null } : {}),
    });
  }

  #chunk(fields: object): void {
    // Both are objects with fields, so that their texts can be joined.
    this.#events.write(`${this.#head},${JSON.stringify(fields).slice(1)}`);
  }
}
