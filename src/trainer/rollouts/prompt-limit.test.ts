import { describe, expect, it } from "vitest";
import type { RenderedPrompt, Renderer } from "../../core/policy.ts";
import { limitPrompts, withPromptLimit } from "./prompt-limit.ts";

const ofLength = (length: number): RenderedPrompt => ({ tokens: new Int32Array(length) });
const renderer: Renderer = {
  family: "plain",
  stop: { tokenIds: [1], strings: [] },
  render: (messages) => ofLength(messages.length),
  extend: (previous, added) =>
    added.length === 0 ? null : ofLength(previous.length + added.length),
  parse: () => ({ content: "", toolCalls: [] }),
  decode: () => "",
};
const message = { role: "user", content: "" } as const;

describe("a limit on prompts", () => {
  const limited = limitPrompts(renderer, 3);
  it("lets prompts through up to it, first ones and later ones", () => {
    expect(limited.render([message, message, message]).tokens).toHaveLength(3);
    expect(limited.extend(new Int32Array(2), [message])?.tokens).toHaveLength(3);
    expect(limited.extend(new Int32Array(9), [])).toBeNull();
    expect(limited.encode).toBeUndefined();
  });
  it("refuses longer ones as too long for the context", () => {
    const error = expect.objectContaining({ code: "CONTEXT_OVERFLOW" });
    expect(() => limited.render([message, message, message, message])).toThrow(error);
    expect(() => limited.extend(new Int32Array(3), [message])).toThrow(
      "data.max_prompt_length allows 3",
    );
  });
  it("is refused where a server renders prompts", () => {
    const target = { kind: "http", workers: [] } as const;
    expect(withPromptLimit(target, null)).toBe(target);
    expect(() => withPromptLimit(target, 8)).toThrow("renders prompts itself");
    expect(() => withPromptLimit({ ...target, renderer, tokenMode: "server" }, 8)).toThrow(
      "itself",
    );
    expect(withPromptLimit({ ...target, renderer }, 8)).toMatchObject({ kind: "http" });
  });
});
