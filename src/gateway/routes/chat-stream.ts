/** A running call as server-sent events in OpenAI's shape of chat completion chunks. */
import type { FinishedCall } from "../call.ts";
import type { TextDelta } from "../delta-reader.ts";
import { errorBody } from "../error-response.ts";
import { toWireToolCalls } from "../wire.ts";
import {
  finishReason,
  toWireLogprobs,
  toWireUsage,
  type ResponseOptions,
} from "./chat-response.ts";

export interface StreamOptions extends ResponseOptions {
  readonly responseId: string;
  readonly n: number;
  readonly includeUsage: boolean;
}

const encoder = new TextEncoder();

/** Writes one answer. After `cancel` everything is a no-op. */
export class ChatStream {
  /** The client's end. */
  readonly body: ReadableStream<Uint8Array>;
  readonly #options: StreamOptions;
  readonly #created = Math.floor(Date.now() / 1000);
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;

  constructor(options: StreamOptions, onCancel: () => void) {
    this.#options = options;
    this.body = new ReadableStream({
      start: (controller) => {
        this.#controller = controller;
      },
      cancel: () => {
        this.#controller = null;
        onCancel();
      },
    });
    for (let choice = 0; choice < options.n; choice++) {
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
      if (message.toolCalls) {
        const calls = toWireToolCalls(message.toolCalls);
        const indexed = calls.map((wire, index) => Object.assign({ index }, wire));
        this.#choice(choice, { tool_calls: indexed });
      }
      this.#choice(choice, {}, finishReason(completion), {
        logprobs: logprobs ? toWireLogprobs(completion, renderer) : null,
      });
    }
    if (includeUsage) this.#chunk({ choices: [], usage: toWireUsage(call) });
    this.#write("[DONE]");
    this.#close();
  }

  /** Tells of an error after the headers have been sent. */
  fail(error: unknown): void {
    this.#write(JSON.stringify(errorBody(error)));
    this.#close();
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
    const { responseId, model } = this.#options;
    const object = "chat.completion.chunk";
    this.#write(
      JSON.stringify({ id: responseId, object, created: this.#created, model, ...fields }),
    );
  }

  #write(data: string): void {
    this.#controller?.enqueue(encoder.encode(`data: ${data}\n\n`));
  }

  #close(): void {
    this.#controller?.close();
    this.#controller = null;
  }
}
