/** Calls that agents make beside their task, recognized by rule and kept out of training. */
import { describe, expect, it } from "vitest";
import { claudeCode } from "../../src/rollouts/agents/tools/claude-code.ts";
import { codex } from "../../src/rollouts/agents/tools/codex.ts";
import { commandAgent } from "../../src/rollouts/agents/command/command-agent.ts";
import { opencode } from "../../src/rollouts/agents/tools/opencode.ts";
import { pi } from "../../src/rollouts/agents/tools/pi.ts";
import { toolSideCalls } from "../../src/rollouts/agents/tools/side-calls.ts";
import type { SideCallUse } from "../../src/core/side-call.ts";
import type { Trajectory } from "../../src/core/trajectory.ts";
import type { AgentConfig } from "../../src/core/agent.ts";
import { runThroughGateway } from "./gateway-run.ts";

const tool = (name: string): object => ({
  type: "function",
  function: { name, parameters: { type: "object" } },
});

interface Call {
  readonly system?: string;
  readonly user: string;
  readonly model?: string;
  readonly tools?: readonly object[];
  readonly max_tokens?: number;
}

async function call(
  { baseUrl, apiKey }: AgentConfig,
  { system, user, ...more }: Call,
): Promise<string> {
  const messages = [
    ...(system === undefined ? [] : [{ role: "system", content: system }]),
    { role: "user", content: user },
  ];
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({ model: "big", ...more, messages }),
  });
  expect(response.status).toBe(200);
  const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
  return choices[0]!.message.content;
}

const main: Call = {
  system: "You are a coding agent.",
  user: "Fix the bug.",
  tools: [tool("bash"), tool("Task")],
};

const sides: readonly (readonly [string, Call])[] = [
  ["title", { system: "Generate a short title for this conversation.", user: "Fix the bug." }],
  [
    "title",
    { system: "Analyze if this message indicates a new conversation topic.", user: "Fix it." },
  ],
  ["summary", { ...main, user: "Please write a detailed summary of the conversation so far." }],
  ["quota", { user: "quota", max_tokens: 1 }],
  ["suggestion", { user: "Suggest what the user's next prompt could be." }],
  ["small-model", { system: "Is this command safe?", user: "ls", model: "claude-haiku-4-5" }],
  ["sub-agent", { system: "You search files.", user: "Find it.", tools: [tool("grep")] }],
];

describe("side calls", () => {
  const withSide = async (side: Call, sideCallUse?: SideCallUse) =>
    await runThroughGateway({
      ...(sideCallUse === undefined ? {} : { sideCallUse }),
      flow: {
        sideCalls: toolSideCalls,
        run: async (_task, config) => {
          await call(config, main);
          await call(config, side);
        },
      },
    });

  it.each(sides)(
    "that a guess recognizes are trained on, with its name: %s, %j",
    async (rule, side) => {
      for (const use of [undefined, "train", ["memory"]] as const) {
        const { episode } = await withSide(side, use);
        const [{ untrained, steps }] = episode.trajectories as [Trajectory];
        expect(episode.trajectories).toHaveLength(1);
        expect([untrained, ...steps.map(({ trace }) => trace.sideCall)]).toEqual([
          ...[undefined, undefined, rule],
        ]);
      }
    },
  );

  it.each(sides)("that are excluded, all or by name: %s, %j", async (rule, side) => {
    const { episode } = await withSide(side, "exclude");
    expect((await withSide(side, [rule])).episode.trajectories).toHaveLength(2);
    const found = episode.trajectories.map(({ name, untrained, steps }) => ({
      ...{ name, untrained },
      calls: steps.map(({ trace }) => trace.sideCall),
    }));
    expect(found).toEqual([
      { name: "agent", untrained: undefined, calls: [undefined] },
      { name: `side:${rule}`, untrained: `side call: ${rule}`, calls: [rule] },
    ]);
  });

  it("are none where all calls would be: then they are the task", async () => {
    const { episode } = await runThroughGateway({
      sideCallUse: "exclude",
      flow: {
        sideCalls: toolSideCalls,
        run: async (_task, config) => {
          await call(config, { user: "Write a title for this topic: the sea." });
          await call(config, { user: "Write a title for this topic: the wind." });
        },
      },
    });
    expect(episode.trajectories).toHaveLength(1);
    expect(episode.trajectories[0]!.untrained).toBeUndefined();
  });

  it.each(sides)(
    "are no others than an agent has rules for; none has %s by itself: %j",
    async (_rule, side) => {
      const { episode } = await runThroughGateway({
        flow: async (_task, config) => {
          await call(config, main);
          await call(config, side);
        },
      });
      expect(episode.trajectories).toMatchObject([{ name: "agent", steps: [{}, {}] }]);
      expect(episode.trajectories[0]!.untrained).toBeUndefined();
    },
  );

  it("are recognized by the agents that the rules were written for, after their own", () => {
    const memory = { name: "memory", matches: () => false };
    for (const cli of [claudeCode, codex, opencode, pi])
      expect(commandAgent(cli({ sideCalls: [memory] })).sideCalls).toEqual([
        memory,
        ...toolSideCalls,
      ]);
    expect(commandAgent({ command: "agent" }).sideCalls).toBeUndefined();
  });

  it("never are the call whose text became the output, unless the agent's own rule says so", async () => {
    const run = async (isGuess: boolean) => {
      const { episode } = await runThroughGateway({
        sideCallUse: "exclude",
        script: ({ index }) => `answer ${index}`,
        flow: {
          sideCalls: toolSideCalls.map((rule) => ({ ...rule, isGuess })),
          run: async (_task, config) => {
            await call(config, main);
            return ` ${await call(config, { user: "Write a short product title for: a mug." })}\n`;
          },
        },
      });
      return episode.trajectories.map(({ name, steps }) => [name, steps.length]);
    };
    expect(await run(true)).toEqual([["agent", 2]]);
    expect(await run(false)).toEqual([
      ["agent", 1],
      ["side:title", 1],
    ]);
  });

  it("follow the rules of the agent first", async () => {
    const { episode } = await runThroughGateway({
      flow: {
        sideCalls: [
          { name: "memory", matches: ({ messages }) => messages.at(-1)?.content === "Remember" },
        ],
        run: async (_task, config) => {
          await call(config, main);
          await call(config, { ...main, user: "Remember" });
        },
      },
    });
    expect(episode.trajectories.map(({ name, untrained }) => [name, untrained])).toEqual([
      ["agent", undefined],
      ["side:memory", "side call: memory"],
    ]);
  });
});
