/** A running call as server-sent events in OpenAI's shape of text completion chunks. */
import type { FinishedCall } from "../../call/call.ts";
import type { TextDelta } from "../../../core/policy.ts";
import { completionsErrors, errorBody } from "../../http/error-response.ts";
import type { CallStream } from "../handle-call.ts";
import { toWireUsage } from "../chat/response.ts";
import type { EventStream } from "../../http/event-stream.ts";
import { toTextChoice, type CompletionsOptions } from "./response.ts";

export interface CompletionsStreamOptions extends CompletionsOptions {
  readonly responseId: string;
  readonly includeUsage: boolean;
}

/** Writes one response. */
export class CompletionsStream implements CallStream {
  readonly #options: CompletionsStreamOptions;
  readonly #events: EventStream;
  readonly #created = Math.floor(Date.now() / 1000);

  constructor(options: CompletionsStreamOptions, events: EventStream) {
    this.#options = options;
    this.#events = events;
  }

  begin(): void {
    // This protocol opens with the first text.
  }

  delta(choice: number, { content }: TextDelta): void {
    if (content === "") return;
    this.#choice({ index: choice, text: content, logprobs: null, finish_reason: null });
  }

  finish(call: FinishedCall): void {
    for (const completion of call.completions) {
      this.#choice(toTextChoice(completion, completion.rest.content, this.#options));
    }
    if (this.#options.includeUsage) this.#chunk({ choices: [], usage: toWireUsage(call) });
    this.#events.write("[DONE]");
  }

  fail(error: unknown): void {
    this.#events.write(JSON.stringify(errorBody(error, completionsErrors)));
  }

  #choice(choice: object): void {
    this.#chunk({ choices: [choice], ...(this.#options.includeUsage ? { usage: null } : {}) });
  }

  #chunk(fields: object): void {
    const { responseId, model } = this.#options;
    const head = { id: responseId, object: "text_completion", created: this.#created, model };
    this.#events.write(JSON.stringify({ ...head, ...fields }));
  }
}
