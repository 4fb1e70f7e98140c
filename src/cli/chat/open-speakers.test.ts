/** A chat with the agent of a file, alone and next to what the model was before, with scripted endpoints. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { createUpstream } from "../../testing/index.ts";
import { openSpeakers, type SpeakerOptions } from "./open-speakers.ts";
import { talk, type TalkOptions } from "./talk.ts";

/** Two turns: the model is told what it said first. */
const agentSource = `
export async function agent(task, { baseUrl, apiKey, model }) {
  const messages = [{ role: "system", content: "You sell lamps." }, { role: "user", content: task.instruction }];
  let text = "";
  for (const more of ["And now?", null]) {
    const response = await fetch(baseUrl + "/chat/completions", {
      method: "POST",
      headers: { authorization: "Bearer " + apiKey, "content-type": "application/json" },
      body: JSON.stringify({ model, messages }),
    });
    text = (await response.json()).choices[0].message.content;
    messages.push({ role: "assistant", content: text });
    if (more !== null) messages.push({ role: "user", content: more });
  }
  return text + "!";
}
`;

function writeProject(): string {
  const folder = mkdtempSync(join(tmpdir(), "agent-trainer-chat-"));
  writeFileSync(join(folder, "agent.mjs"), agentSource);
  const file = join(folder, "shop.yaml");
  // An evaluator that would fail: nothing is scored.
  writeFileSync(file, "agent: agent.mjs#agent\nevaluator: agent.mjs#agent\n");
  return file;
}

type Flags = Partial<SpeakerOptions> & TalkOptions;

async function chat(input: string, flags: Flags) {
  await using before = await createUpstream({ kind: "openai", script: () => "before said" });
  await using after = await createUpstream({ kind: "openai", script: () => "after said" });
  let [out, err] = ["", ""];
  const io = {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
  };
  const options: SpeakerOptions = {
    ...flags,
    model: after.url,
    ...(flags.before === undefined ? {} : { before: before.url }),
  };
  const code = await talk(
    (signal) => openSpeakers(options, io, signal),
    flags,
    io,
    Readable.from([input]),
  );
  return { code, out, err, calls: after.calls };
}

it("runs the agent on each line, with its system prompt, and shows all that was said", async () => {
  const { code, out, calls } = await chat("one\n/reset\ntwo\n", { agent: writeProject() });
  expect(code).toBe(0);
  expect(out).toBe("after said\nAnd now?\nafter said\n= after said!\n".repeat(2));
  const [first] = calls;
  expect(JSON.stringify(first?.body)).toContain("You sell lamps.");
  expect(calls).toHaveLength(4);
});

it("shows both responses, the earlier one first", async () => {
  const { out } = await chat("one\n", { agent: writeProject(), before: true });
  expect(out).toMatch(/^before: .*\nbefore said\n[^]*\nafter: .*\nafter said\n/u);
  const asJson = await chat("one\n", { before: true, json: true });
  expect(JSON.parse(asJson.out)).toEqual({
    request: "one",
    before: "before said",
    response: "after said",
  });
});

it("refuses a system message for an agent, and a model of which the start is not known", async () => {
  await expect(chat("one\n", { agent: writeProject(), system: "No." })).rejects.toThrow(
    "--system cannot be combined with --agent",
  );
  const io = { stdout: { write: () => true }, stderr: { write: () => true } };
  const start = openSpeakers(
    { model: "builtin:shop-tiny", before: true },
    io,
    new AbortController().signal,
  );
  await expect(start).rejects.toThrow("is no run, so it is not known what it was before training");
});
