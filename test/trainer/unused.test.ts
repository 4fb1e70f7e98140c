/** What is not in an update is counted, shown and said. */
import { describe, expect, it } from "vitest";
import { createProgress } from "../../src/cli/terminal/progress.ts";
import type { AgentConfig, AgentFlow } from "../../src/core/agent.ts";
import type { TrainerEvent } from "../../src/core/events.ts";
import { toolSideCalls } from "../../src/rollouts/agents/tools/side-calls.ts";
import { request } from "../rollout/gateway-run.ts";
import { type CoinBackend, coinBackend } from "./coin-backend.ts";
import { coinTrainer, readLines } from "./coin-run.ts";

const title = "Write a short product title for: a mug.";

async function twoCalls(config: AgentConfig): Promise<string> {
  const { content } = await request(config, "Yes or no?");
  await request(config, title);
  return `It says ${content}`;
}

const messages = (events: readonly TrainerEvent[], type: "warning" | "notice") =>
  events.flatMap((event) => (event.type === type ? event.message : []));

async function run(
  agentFlow: AgentFlow,
  set: Record<string, unknown> = {},
  backend: CoinBackend = coinBackend(),
) {
  let shown = "";
  const stream = { isTTY: false, write: (text: string) => void (shown += text) };
  const progress = createProgress({ stream, isQuiet: false, env: {} });
  let scored = 0;
  const { trainer, events } = coinTrainer({
    ...{ agentFlow, backend },
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
    const exclude = { "rollout.side_calls": "exclude" };
    const { unused, shown, events } = await run(agentFlow, exclude);
    expect(unused).toEqual([
      [8, 8],
      [8, 8],
    ]);
    expect(shown.match(/unused 8 \(8 calls\)/gu)).toHaveLength(2);
    expect(messages(events, "notice").filter((text) => text.includes("not trained on"))).toEqual([
      '8 calls of step 1 are not trained on, because the rule "title" takes them for side calls. rollout.side_calls=train includes them. This is said once; rollout/unused counts them.',
    ]);
    for (const set of [{}, { "rollout.side_calls": ["quota"] }])
      expect((await run(agentFlow, set)).unused).toEqual([
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

  const oneCall: AgentFlow = async (_task, config) => (await request(config, "Yes or no?")).content;

  it("because their trajectory is truncated, where the option says so", async () => {
    const masks = { "algorithm.mask_truncated_samples": true, "data.max_response_length": 1 };
    const { unused, events } = await run(oneCall, masks);
    expect(unused).toEqual([
      [8, 8],
      [8, 8],
    ]);
    expect(messages(events, "notice").filter((text) => text.includes("truncated"))).toEqual([
      "8 calls of step 1 are in rows with a truncated response, which algorithm.mask_truncated_samples keeps out of training. algorithm.mask_truncated_samples=false includes them. This is said once; rollout/unused counts them.",
    ]);
    const included = await run(oneCall, { ...masks, "algorithm.mask_truncated_samples": false });
    expect(included.unused[0]).toEqual([0, 0]);
  });

  it("because rollout correction rejected every token of their rows", async () => {
    const name = "algorithm.rollout_correction.reject";
    const rule = { [name]: ["seq_sum_k3=1e-9"] };
    // It scores every response at one half, and the sampler gave it another probability.
    const { unused, events } = await run(
      oneCall,
      rule,
      coinBackend({ capabilities: { forward: true }, onForward: () => {} }),
    );
    expect(unused[0]).toEqual([8, 8]);
    expect(messages(events, "notice").filter((text) => text.includes("rejected"))).toEqual([
      `8 rows of step 1 were rejected with every token by ${name}, so they are not trained on. ${name}=null includes them, and another threshold more of them. This is said once; rollout/unused counts them.`,
    ]);
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
