import { describe, expect, it } from "vitest";
import { makeStep } from "../../../test/make-step.ts";
import type { ChatMessage } from "../../core/message.ts";
import type { Episode, Step } from "../../core/trajectory.ts";
import { conversationOf } from "../../view/episode/view-episode.ts";
import { colorsFor, safeText } from "../terminal/terminal.ts";
import { formatConversation } from "./conversation-text.ts";

const colors = colorsFor({ write: () => {} }, {});

const step = (messages: readonly ChatMessage[], response: ChatMessage): Step =>
  makeStep({ messages, response });

function episode(steps: readonly Step[]): Episode {
  return {
    ...{ id: "1/a/0", rolloutIndex: 0, output: "12", isCorrect: true, reward: 1, attempts: 1 },
    task: { id: "a", instruction: "how much?", metadata: {} },
    trajectories: [{ uid: "u", name: "agent", steps, reward: 1, signals: {}, metadata: {} }],
    ...{ terminationReason: "completed", metrics: {}, metadata: {} },
  };
}

describe("formatConversation", () => {
  it("shows a conversation once, with its tool calls", () => {
    const user: ChatMessage = { role: "user", content: "how much?" };
    const call: ChatMessage = {
      role: "assistant",
      content: "",
      toolCalls: [{ id: "1", name: "price", arguments: '{"item":"tea"}' }],
    };
    const tool: ChatMessage = { role: "tool", content: "3" };
    const answer: ChatMessage = { role: "assistant", content: "It is 3.\nBye." };
    const steps = [step([user], call), step([user, call, tool], answer)];
    const text = formatConversation(conversationOf(episode(steps)), colors);
    expect(text).toBe(
      [
        "task a   reward 1",
        "  user      how much?",
        '  assistant → price({"item":"tea"})',
        "  tool      3",
        "  assistant It is 3.",
        "            Bye.",
        "",
      ].join("\n"),
    );
  });
  it("shows separate conversations one after the other", () => {
    const one: ChatMessage = { role: "user", content: "one" };
    const two: ChatMessage = { role: "user", content: "two" };
    const empty: ChatMessage = { role: "assistant", content: "" };
    const text = formatConversation(
      conversationOf(episode([step([one], empty), step([two], empty)])),
      colors,
    );
    expect(text.match(/one|two|\(empty\)/gu)).toEqual(["one", "(empty)", "two", "(empty)"]);
  });
});

describe("safeText", () => {
  it.each([
    ["colors", "\u001B[31mred\u001B[0m", "red"],
    ["window titles", "\u001B]0;owned\u0007text", "text"],
    ["lone escapes", "a\u001Bb", "ab"],
    ["carriage returns and bells", "a\r\u0007b", "ab"],
    ["8-bit control sequences", "\u009B2Ja", "a"],
    ["text that runs backwards", "a\u202Eb", "ab"],
    ["nothing of line feeds and tabs", "a\n\tb", "a\n\tb"],
  ])("removes %s", (_, text, expected) => {
    expect(safeText(text)).toBe(expected);
  });
});

describe("colorsFor", () => {
  const tty = { write: () => {}, isTTY: true };
  it.each([
    ["a terminal", tty, {}, true],
    ["no terminal", { write: () => {} }, {}, false],
    ["NO_COLOR", tty, { NO_COLOR: "1" }, false],
    ["an empty NO_COLOR", tty, { NO_COLOR: "" }, true],
    ["TERM=dumb", tty, { TERM: "dumb" }, false],
    ["FORCE_COLOR without a terminal", { write: () => {} }, { FORCE_COLOR: "1" }, true],
  ])("%s", (_, stream, env, expected) => {
    expect(colorsFor(stream, env).isColorSupported).toBe(expected);
  });
});
