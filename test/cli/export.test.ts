/** `agent-trainer export`: episodes of a run in the formats of other programs. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../../src/cli/program.ts";
import {
  parseConversation,
  parsePreference,
} from "../../src/launch/finetune/examples/conversation.ts";
import type { ChatMessage } from "../../src/core/message.ts";
import { makeStep } from "../make-step.ts";
import { addEpisodes, newRunFolder } from "../view/view-run.ts";

type Document = Readonly<Record<string, unknown>>;

let folder = "";
beforeAll(() => {
  folder = newRunFolder();
  addEpisodes(folder, "000001.jsonl", [
    { id: "1/a/0", reward: 1, responses: ["good"], ids: [3, 4, 5] },
    { id: "1/a/1", rollout: 1, reward: 0, responses: ["bad", "worse"], extra: toolEpisode() },
  ]);
  addEpisodes(folder, "val-000001.jsonl", [
    { id: "val/1/a/0", reward: 1, responses: ["held out"] },
  ]);
});

/** A call of a tool, its result, an image, and a history that was cut. */
function toolEpisode() {
  const toolCalls = [{ id: "call_1", name: "look", arguments: '{"at":"sky"}' }];
  const system: ChatMessage = { role: "system", content: "Be brief." };
  const user: ChatMessage = { role: "user", content: "Say something." };
  const called: ChatMessage = { role: "assistant", content: "", reasoning: "Hm.", toolCalls };
  const result: ChatMessage = { role: "tool", content: "blue", toolCallId: "call_1" };
  const picture: ChatMessage = {
    role: "user",
    content: [
      { type: "text", text: "And this?" },
      { type: "image", url: "https://example.com/a.png" },
    ],
  };
  const said: ChatMessage = { role: "assistant", content: "bad" };
  const tools = [{ name: "look", parameters: { type: "object" } }];
  const ids = {
    promptIds: Int32Array.of(7),
    responseIds: Int32Array.of(8, 9),
    logprobs: Float32Array.of(-0.5, -1),
  };
  const steps = [
    makeStep({ id: "t1", messages: [system, user], tools, response: called, ...ids }),
    makeStep({
      id: "t2",
      messages: [system, user, called, result, picture],
      tools,
      response: said,
      ...ids,
    }),
    makeStep({
      id: "t3",
      messages: [system, said, user],
      tools,
      response: said,
      ...ids,
      untrainable: "client gone",
    }),
  ];
  const trajectory = {
    uid: "u2",
    name: "agent",
    steps,
    reward: 0,
    signals: { env_look: 0 },
    metadata: {},
  };
  return { trajectories: [trajectory] };
}

async function run(format: string, ...more: readonly string[]) {
  let out = "";
  let err = "";
  const code = await runCli(["export", folder, "--format", format, ...more], {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
  });
  const documents = out
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Document);
  return { code, documents, err };
}

describe("atif", () => {
  it("a step for each message, tool results at their calls, and copied context marked", async () => {
    const { documents } = await run("atif", "--episode", "1/a/1");
    expect(documents).toHaveLength(1);
    const {
      steps,
      agent,
      final_metrics: metrics,
    } = documents[0] as { steps: Document[]; agent: Document; final_metrics: Document };
    expect(agent).toMatchObject({ tool_definitions: [{ function: { name: "look" } }] });
    expect(
      steps.map(({ source, message, is_copied_context: copied }) => [source, message, copied]),
    ).toEqual([
      ["system", "Be brief.", undefined],
      ["user", "Say something.", undefined],
      ["agent", "", undefined],
      [
        "user",
        [
          { type: "text", text: "And this?" },
          { type: "image", source: { media_type: "image/png", path: "https://example.com/a.png" } },
        ],
        undefined,
      ],
      ["agent", "bad", undefined],
      ["agent", "bad", true],
      ["user", "Say something.", true],
      ["agent", "bad", undefined],
    ]);
    expect(steps[2]).toMatchObject({
      step_id: 3,
      reasoning_content: "Hm.",
      tool_calls: [{ tool_call_id: "call_1", function_name: "look", arguments: { at: "sky" } }],
      observation: { results: [{ source_call_id: "call_1", content: "blue" }] },
      metrics: { completion_token_ids: [8, 9], logprobs: [-0.5, -1], prompt_token_ids: [7] },
      llm_call_count: 1,
    });
    expect(metrics).toMatchObject({
      total_prompt_tokens: 3,
      total_completion_tokens: 6,
      total_steps: 8,
      extra: { reward: 0 },
    });
  });

  it("an episode by its number in the list", async () => {
    const byId = await run("atif", "--episode", "1/a/1");
    expect((await run("atif", "--episode", "2")).documents).toEqual(byId.documents);
  });

  it("all episodes, those of validations too", async () => {
    expect((await run("atif")).documents).toHaveLength(3);
  });
});

it("chat and pairs are read by fine-tuning, and have nothing of validations", async () => {
  const chat = await run("chat");
  expect(chat.documents).toHaveLength(1);
  expect(parseConversation(chat.documents[0], "row").messages.at(-1)?.content).toBe("good");
  const pairs = await run("pairs");
  expect(pairs.documents).toHaveLength(1);
  expect(pairs.documents[0]).toMatchObject({ prompt: [{ role: "system" }] });
  const { chosen, rejected } = parsePreference(pairs.documents[0], "row");
  expect(chosen.messages.at(-1)?.content).toBe("good");
  expect(rejected.messages.at(-1)?.content).toBe("bad");
});

describe("a conversation that is not whole", () => {
  const user: ChatMessage = { role: "user", content: "Say something." };
  const toolCalls = [{ id: "call_1", name: "look", arguments: "{}" }];
  const called: ChatMessage = { role: "assistant", content: "", toolCalls };
  const result: ChatMessage = { role: "tool", content: "blue", toolCallId: "call_1" };
  const said: ChatMessage = { role: "assistant", content: "Blue." };
  const half: ChatMessage = { role: "assistant", content: "Blu" };

  type Call = readonly [readonly ChatMessage[], ChatMessage, ("stop" | "length" | "aborted")?];
  const kinds: Readonly<Record<string, readonly [string | null, readonly Call[]]>> = {
    whole: [
      null,
      [
        [[user], called],
        [[user, called, result], said],
      ],
    ],
    "ends in a call": [null, [[[user], called]]],
    "asked again": [
      null,
      [
        [[user], half, "length"],
        [[user], said],
      ],
    ],
    "cut off": ["cut off", [[[user], half, "length"]]],
    "cut off in the middle": [
      "cut off",
      [
        [[user], half, "length"],
        [[user, half, user], said],
      ],
    ],
    "a call cut off": [
      "cut off",
      [
        [[user], called, "length"],
        [[user, called, result], said],
      ],
    ],
    aborted: ["interrupted", [[[user], half, "aborted"]]],
    "without its result": ["missing tool result", [[[user, called, user], said]]],
    "without its call": ["tool result without its call", [[[user, result], said]]],
    "no object": [
      "lost arguments",
      [[[user], { ...called, toolCalls: [{ ...toolCalls[0]!, arguments: '{"a' }] }]],
    ],
  };

  const exported = async (name: string, format: string): Promise<readonly [number, string]> => {
    const [, calls] = kinds[name]!;
    const own = newRunFolder();
    const steps = calls.map(([messages, response, stopReason = "stop"], i) =>
      makeStep({ id: String(i), messages, response, stopReason }),
    );
    const more = { uid: "u", name: "agent", reward: 1, signals: {}, metadata: {} };
    addEpisodes(own, "000001.jsonl", [
      { id: "1/a/0", reward: 1, responses: [], extra: { trajectories: [{ ...more, steps }] } },
      { id: "1/a/1", rollout: 1, reward: 0, responses: ["bad"] },
      { id: "1/b/0", reward: 1, responses: ["good"] },
      { id: "1/b/1", rollout: 1, reward: 0, responses: ["bad"] },
    ]);
    let [out, err] = ["", ""];
    const output = join(own, "out.jsonl");
    await runCli(["export", own, "--format", format, "--output", output, "--json"], {
      stdout: { write: (text: string) => (out += text) },
      stderr: { write: (text: string) => (err += text) },
    });
    const { documents, leftOut } = JSON.parse(out) as { documents: number; leftOut: object };
    const text = JSON.stringify(leftOut);
    expect(err.includes("Left out, since they are not whole"), err).toBe(text !== "{}");
    return [documents, text];
  };

  it.each(Object.entries(kinds))("%s", async (name, [why]) => {
    const left = why === null ? "{}" : JSON.stringify({ [why]: 1 });
    expect(await exported(name, "chat")).toEqual([why === null ? 2 : 1, left]);
    const [pairs, leftOfPairs] = await exported(name, "pairs");
    expect(leftOfPairs).toBe(left);
    if (why !== null) expect(pairs).toBe(1);
  });
});

it("writes a file and reports it", async () => {
  const output = join(folder, "out.jsonl");
  const { code, documents, err } = await run(
    "chat",
    "--min-reward",
    "0",
    "--output",
    output,
    "--json",
  );
  expect([code, documents]).toEqual([0, [{ format: "chat", output, documents: 2, leftOut: {} }]]);
  expect(err).toContain(`2 documents in ${output}`);
  expect(readFileSync(output, "utf8").trim().split("\n")).toHaveLength(2);
});

it.each([
  ["an unknown format", ["csv"], /Allowed choices are atif/u],
  ["an unknown episode", ["atif", "--episode", "nine"], /has no episode "nine"/u],
  ["nothing to export", ["chat", "--min-reward", "9"], /nothing to export as chat/u],
])("%s is an error", async (_name, [format = "", ...more], message) => {
  const { code, err } = await run(format, ...more);
  expect(code).not.toBe(0);
  expect(err).toMatch(message);
});
