/** Gathers what the assistant said, thought and called in one turn: its items are one message. */
import type { ChatMessage, ToolCall } from "../../../core/message.ts";
import { defined } from "../../../util/defined.ts";
import type { ItemPlace } from "./item-ids.ts";

type Content = ChatMessage["content"];

export class TurnReader {
  readonly messages: ChatMessage[] = [];
  #content: Content | undefined;
  #reasoning: string | undefined;
  #calls: ToolCall[] = [];
  /** The response whose items the turn refers to. */
  #responseId: string | undefined;

  reason(text: string): void {
    // Thinking opens a turn.
    if (this.#content !== undefined || this.#calls.length > 0) this.flush();
    this.#reasoning = (this.#reasoning ?? "") + text;
  }

  say(content: Content): void {
    if (this.#content !== undefined || this.#calls.length > 0) this.flush();
    this.#content = content;
  }

  call(call: ToolCall): void {
    this.#calls.push(call);
  }

  /** The item at `place` of the response that this message is. False where it has none there. */
  refer({ kind, responseId, index }: ItemPlace, message: ChatMessage): boolean {
    const call = message.toolCalls?.[index];
    if (kind === "fc" ? !call : kind === "rs" && message.reasoning === undefined) return false;
    if (this.#responseId !== undefined && this.#responseId !== responseId) this.flush();
    const isOpen = this.#responseId === responseId;
    // A stream may have shown a text in several items; in the message it is one.
    if (call && kind === "fc") this.call(call);
    else if (kind === "msg" && !(isOpen && this.#content !== undefined)) this.say(message.content);
    else if (kind === "rs" && !(isOpen && this.#reasoning !== undefined))
      this.reason(message.reasoning ?? "");
    this.#responseId = responseId;
    return true;
  }

  add(message: ChatMessage): void {
    this.flush();
    this.messages.push(message);
  }

  flush(): void {
    const reasoning = this.#reasoning;
    if (this.#content !== undefined || this.#calls.length > 0 || reasoning !== undefined) {
      this.messages.push({
        role: "assistant",
        content: this.#content ?? "",
        ...defined({ reasoning }),
        ...(this.#calls.length === 0 ? {} : { toolCalls: this.#calls }),
      });
    }
    this.#content = undefined;
    this.#reasoning = undefined;
    this.#calls = [];
    this.#responseId = undefined;
  }
}
