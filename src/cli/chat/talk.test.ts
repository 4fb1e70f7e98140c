/** The chat through a pipe, with a scripted endpoint. */
import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { createUpstream } from "../../testing/index.ts";
import { openSpeaker, type SpeakerOptions } from "./open-speaker.ts";
import { talk, type TalkOptions } from "./talk.ts";

type Flags = Omit<SpeakerOptions, "model"> & TalkOptions;

async function chat(input: string, flags: Flags = {}, fault?: "down") {
  await using upstream = await createUpstream({
    kind: "openai",
    script: ({ text }) => `heard ${text.length > 0 ? "you" : "nothing"}`,
    ...(fault === undefined ? {} : { fault: () => ({ type: "status", status: 400 }) as const }),
  });
  let [out, err] = ["", ""];
  const io = {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
  };
  const code = await talk(
    (signal) => openSpeaker({ ...flags, model: upstream.url }, io, signal),
    flags,
    io,
    Readable.from([input]),
  );
  return { code, out, err, calls: upstream.calls };
}
const contents = (call: { readonly body: object }): string[] =>
  (call.body as { messages: { role: string; content: string }[] }).messages.map(
    ({ role, content }) => `${role}: ${content}`,
  );

it("responds to each line with the conversation before it, until /exit", async () => {
  const input = "one\n\ntwo\n/reset\nthree\n/exit\nfour\n";
  const { code, out, calls } = await chat(input, { system: "Be brief.", maxTokens: 9 });
  expect(code).toBe(0);
  expect(out).toBe("heard you\n".repeat(3));
  expect(calls.map(contents)).toEqual([
    ["system: Be brief.", "user: one"],
    ["system: Be brief.", "user: one", "assistant: heard you", "user: two"],
    ["system: Be brief.", "user: three"],
  ]);
  expect(calls[0]?.body).toMatchObject({ max_tokens: 9 });
});

it("prints a line of JSON for each response", async () => {
  const { out } = await chat("one\n", { json: true });
  expect(JSON.parse(out)).toEqual({ request: "one", response: "heard you" });
});

it("shows what went wrong, goes on, and exits with 1", async () => {
  const { code, out, err, calls } = await chat("one\ntwo\n", { quiet: true }, "down");
  expect(code).toBe(1);
  expect(out).toBe("");
  expect(err.match(/error:/gu)).toHaveLength(2);
  // What failed is no part of the conversation.
  expect(contents(calls.at(-1)!)).toEqual(["user: two"]);
});
