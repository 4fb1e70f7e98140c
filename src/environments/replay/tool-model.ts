/** A model that answers in place of a tool what the record has no answer to; the same call always in the same way. */
import { type ChatEndpoint, NoCompletion, patientCompletion } from "../../http/chat-completion.ts";
import { HttpFault } from "../../http/http-fault.ts";
import type { EnvironmentTool } from "../../core/environment.ts";
import type { RecordedCall } from "./recorded-calls.ts";

const timeoutMs = 60_000;
const tries = 3;
/** Answers that are kept. */
const maxKept = 10_000;
const maxShownChars = 2000;

const instructions = `You stand in for a tool of a program. You are given its description and calls of it from the
record, with what it answered. Write what it would answer to the next call, in the same form and consistent with the
record, and nothing else. If the arguments make no sense for the tool, write the error that it would give.`;

interface KeptAnswer {
  readonly text: Promise<string>;
  /** Of the episode that asked first. */
  readonly signal: AbortSignal;
}

export class ToolModel {
  readonly #endpoint: ChatEndpoint;
  readonly #kept = new Map<string, KeptAnswer>();

  constructor(endpoint: ChatEndpoint) {
    this.#endpoint = endpoint;
  }

  /** null where the model failed. @throws the signal's reason */
  async answer(
    key: string,
    tool: EnvironmentTool | undefined,
    call: Omit<RecordedCall, "result">,
    examples: readonly RecordedCall[],
    signal: AbortSignal,
  ): Promise<string | null> {
    const known = this.#kept.get(key) ?? {
      text: this.#ask(tool, call, examples, signal),
      signal,
    };
    this.#kept.set(key, known);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > maxKept && oldest !== undefined) this.#kept.delete(oldest);
    try {
      return await known.text;
    } catch (error) {
      if (this.#kept.get(key) === known) this.#kept.delete(key);
      signal.throwIfAborted();
      if (error instanceof HttpFault || error instanceof NoCompletion) return null;
      if (!known.signal.aborted) throw error;
      // The episode that asked first was stopped, this one was not.
      return await this.answer(key, tool, call, examples, signal);
    }
  }

  async #ask(
    tool: EnvironmentTool | undefined,
    { name, arguments: given }: Omit<RecordedCall, "result">,
    examples: readonly RecordedCall[],
    signal: AbortSignal,
  ): Promise<string> {
    const callText = (args: unknown): string => JSON.stringify(args).slice(0, maxShownChars);
    const record = examples.map(
      (one) => `Call: ${callText(one.arguments)}\nAnswer: ${one.result.slice(0, maxShownChars)}`,
    );
    const messages = [
      { role: "system", content: instructions },
      {
        role: "user",
        content: [
          `Tool: ${JSON.stringify(tool ?? { name }).slice(0, 2 * maxShownChars)}`,
          ...record,
          `Call: ${callText(given)}\nAnswer:`,
        ].join("\n\n"),
      },
    ];
    const body = { temperature: 0, seed: 0, ...this.#endpoint.body };
    const endpoint = { ...this.#endpoint, body };
    return (await patientCompletion(endpoint, messages, { timeoutMs, tries, signal })).content;
  }
}
