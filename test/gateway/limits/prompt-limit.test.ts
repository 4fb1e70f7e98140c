/** A limit on prompts below the context window, for every way to give a prompt. */
import { describe, expect, it } from "vitest";
import { createGateway } from "../../../src/gateway/index.ts";
import { createByteRenderer } from "../../../src/testing/index.ts";
import { createTestGateway } from "../function-client.ts";

const tokens = 60;
const promptLimit = { tokens, option: "data.max_prompt_length" };
const said = (content: string) => ({ messages: [{ role: "user", content }] });
const renderer = createByteRenderer();
/** As many bytes of text make a prompt of exactly the limit. */
const room = tokens - renderer.render([{ role: "user", content: "" }]).tokens.length;

describe("a limit on prompts", () => {
  it.each([
    ["messages", "chat/completions", said("x".repeat(room)), said("x".repeat(room + 1))],
    ["text", "completions", { prompt: "x".repeat(tokens) }, { prompt: "x".repeat(tokens + 1) }],
    [
      "token ids",
      "completions",
      { prompt: Array.from({ length: tokens }, () => 97) },
      { prompt: Array.from({ length: tokens + 1 }, () => 97) },
    ],
    ["long messages", "chat/completions", said("x"), said("x".repeat(40_000))],
  ])("counts %s", async (_, path, fits, exceeds) => {
    const { open } = createTestGateway(() => "a", {}, { promptLimit });
    const session = await open();
    const route = `/v1/${path}`;
    expect((await session.post({ model: "m", ...fits }, { path: route })).status).toBe(200);
    const refused = await session.post({ model: "m", ...exceeds }, { path: route });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({
      error: {
        code: "context_length_exceeded",
        message: expect.stringMatching(
          /has (?:61|\d{5}) tokens, but data\.max_prompt_length allows 60/u,
        ),
      },
    });
  });

  it("counts the whole prompt of a later turn, and leaves the context window to the model", async () => {
    const { open } = createTestGateway(() => "y".repeat(20), {}, { promptLimit });
    const session = await open();
    const first = said("x".repeat(room)).messages;
    const { choices } = await session.complete({ messages: first });
    const messages = [...first, choices[0]!.message, { role: "user", content: "z" }];
    expect((await session.post({ messages })).status).toBe(400);
  });

  it("is refused where a server renders prompts", () => {
    const target = { kind: "http", workers: [{ url: "http://127.0.0.1:1" }] } as const;
    const create = (more: object) =>
      createGateway({ target: { ...target, ...more }, model: "m", promptLimit });
    expect(() => create({})).toThrow("data.max_prompt_length=60 is not supported");
    expect(() => create({ renderer, tokenMode: "server" })).toThrow("renders prompts itself");
  });
});
