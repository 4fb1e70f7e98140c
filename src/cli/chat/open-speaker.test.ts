/** A chat with the agent of a file, with a scripted endpoint. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { createUpstream } from "../../testing/index.ts";
import { openSpeaker, type SpeakerOptions } from "./open-speaker.ts";
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
  await using after = await createUpstream({ kind: "openai", script: () => "after said" });
  let [out, err] = ["", ""];
  const io = {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
  };
  const options: SpeakerOptions = { ...flags, model: after.url };
  const code = await talk(
    (signal) => openSpeaker(options, io, signal),
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

it("refuses a system message for an agent", async () => {
  await expect(chat("one\n", { agent: writeProject(), system: "No." })).rejects.toThrow(
    "--system cannot be combined with --agent",
  );
});
