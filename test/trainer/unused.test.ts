/** What is not in an update is counted, shown and said. */
import { describe, expect, it } from "vitest";
import { createProgress } from "../../src/cli/terminal/progress.ts";
import type { AgentConfig, AgentFlow } from "../../src/core/agent.ts";
import type { TrainerEvent } from "../../src/core/events.ts";
import { toolSideCalls } from "../../src/agents/index.ts";
import { request } from "../rollout/gateway-run.ts";
import { coinTrainer, readLines } from "./coin-run.ts";

const title = "Write a short product title for: a mug.";

async function twoCalls(config: AgentConfig): Promise<string> {
  const { content } = await request(config, "Yes or no?");
  await request(config, title);
  return `It says ${content}`;
}

const messages = (events: readonly TrainerEvent[], type: "warning" | "notice") =>
  events.flatMap((event) => (event.type === type ? event.message : []));

async function run(agentFlow: AgentFlow, set: Record<string, unknown> = {}) {
  let shown = "";
  const stream = { isTTY: false, write: (text: string) => void (shown += text) };
  const progress = createProgress({ stream, isQuiet: false, env: {} });
  let scored = 0;
  const { trainer, events } = coinTrainer({
    agentFlow,
    evaluator: () => (scored++ % 4) / 3,
    set: { "trainer.total_batches": 2, ...set },
    onEvent: (event) => progress.onEvent(event),
  });
  const { runDir } = await trainer.train();
  const lines = readLines(runDir, "metrics.jsonl").filter(({ phase }) => phase === "train");
  const unused = lines.map((line) => [line["rollout/unused"], line["rollout/unused_calls"]]);
  return { unused, shown, events };
}

describe("calls that are not trained on", () => {
  it("are none of a flow without rules, whatever its prompts say", async () => {
    const { unused, shown, events } = await run((_task, config) => twoCalls(config));
    expect(unused).toEqual([
      [0, 0],
      [0, 0],
    ]);
    expect(shown).not.toContain("unused");
    expect(messages(events, "warning").filter((text) => text.includes("not trained on"))).toEqual(
      [],
    );
  });

  it("by a rule: counted in every step, shown in its line, said once with the option", async () => {
    const agentFlow = {
      sideCalls: toolSideCalls,
      run: (_task: unknown, config: AgentConfig) => twoCalls(config),
    };
    const { unused, shown, events } = await run(agentFlow);
    expect(unused).toEqual([
      [8, 8],
      [8, 8],
    ]);
    expect(shown.match(/unused 8 \(8 calls\)/gu)).toHaveLength(2);
    expect(messages(events, "warning").filter((text) => text.includes("not trained on"))).toEqual([
      '8 calls of step 1 are not trained on, because the rule "title" takes them for side calls. rollout.side_calls=train includes them. This is said once; rollout/unused counts them.',
    ]);
    const included = await run(agentFlow, { "rollout.side_calls": "train" });
    expect(included.unused).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });

  it("by the agent or an option: a notice", async () => {
    const judged: AgentFlow = async (_task, config) => {
      const { content } = await request(config, "Yes or no?");
      await request(config.trajectory("judge", { train: false }), "Is it good?");
      return content;
    };
    const { unused, events } = await run(judged, { "trainer.total_batches": 1 });
    expect(unused).toEqual([[8, 8]]);
    expect(messages(events, "notice")).toContainEqual(
      expect.stringMatching(/^8 calls of step 1 belong to the trajectory "judge".*train: false/u),
    );
    expect(messages(events, "warning").filter((text) => text.includes("judge"))).toEqual([]);
  });

  it("because what they were compared with got the same reward: rollouts without any", async () => {
    const { trainer, events } = coinTrainer({
      evaluator: () => true,
      set: { "trainer.total_batches": 1 },
    });
    const { runDir } = await trainer.train();
    expect(readLines(runDir, "metrics.jsonl")[0]).toMatchObject({
      "rollout/unused": 8,
      "rollout/unused_calls": 8,
    });
    expect(messages(events, "notice")).toContainEqual(
      expect.stringContaining("algorithm.filter_uniform_groups=false includes them"),
    );
  });
});
