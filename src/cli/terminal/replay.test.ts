import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { conversationOf } from "../../view/episode/view-episode.ts";
import { madeEpisode } from "../../../test/view/view-run.ts";
import { replayEpisode } from "./replay.ts";

function played(input: string, responses: readonly string[]) {
  const written = { out: "", err: "" };
  const io = {
    stdout: { write: (text: string) => (written.out += text) },
    stderr: { write: (text: string) => (written.err += text) },
  };
  const keys = new PassThrough();
  keys.end(input);
  const view = conversationOf(madeEpisode({ id: "1/a/0", responses }));
  return replayEpisode(view, io, keys).then((code) => ({ code, ...written }));
}

it("shows a message per line of the input, and how it ended after the last", async () => {
  const { code, out } = await played("\n\n\n\n\n\n", ["one\u001B[31m", "two"]);
  expect(code).toBe(0);
  expect(out).toBe(
    [
      "[1/5] system, call 1",
      "Be brief.",
      "[2/5] user, call 1",
      "Say something.",
      "[3/5] assistant, call 1",
      "one",
      "[4/5] user, call 2",
      "And now?",
      "[5/5] assistant, call 2",
      "two",
      "The agent returned. · Reward 1 · correct",
      "",
    ].join("\n"),
  );
});

it("ends with q, and where the input ends", async () => {
  expect((await played("\nq\n\n", ["one"])).out).toMatch(
    /\[2\/3\] user, call 1\nSay something\.\n$/u,
  );
  expect((await played("", ["one"])).out).toBe("[1/3] system, call 1\nBe brief.\n");
});
