/** Agents that ask for several choices and use one: the reward reaches the tokens of that one alone. */
import { describe, expect, it } from "vitest";
import { defineTrajectory } from "../../src/core/report.ts";
import type { AgentConfig } from "../../src/core/agent.ts";
import type { Task } from "../../src/core/task.ts";
import { createScriptedTarget } from "../../src/testing/index.ts";
import { createRandom } from "../../src/util/random.ts";
import { coinBackend } from "./coin-backend.ts";
import { coinTrainer, readLines } from "./coin-run.ts";

interface Completion {
  readonly id: string;
  readonly choices: readonly {
    readonly index: number;
    readonly message: { readonly content: string };
  }[];
}

async function complete(task: Task, config: AgentConfig): Promise<Completion> {
  const response = await fetch(`${config.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${config.apiKey}` },
    body: JSON.stringify({
      model: config.model,
      n: 4,
      messages: [{ role: "user", content: task.instruction }],
    }),
    signal: config.signal,
  });
  return (await response.json()) as Completion;
}

/** Prefers "yes", as a judge or a test would. */
const best = ({ choices }: Completion): Completion["choices"][number] =>
  choices.find(({ message }) => message.content === "yes") ?? choices[0]!;

type Flow = (task: Task, config: AgentConfig) => Promise<unknown>;

async function run(agentFlow: Flow) {
  const coin = coinBackend();
  // Choices of a call differ; most are "no", so that some calls have no "yes".
  const random = createRandom(5);
  const backend = {
    ...coin,
    start: async () => createScriptedTarget(() => (random() < 0.25 ? "yes" : "no")),
  };
  const { trainer, events } = coinTrainer({
    backend,
    agentFlow,
    evaluator: (_task, { output, metadata }) =>
      output === "yes" || metadata["used"] === "yes" ? 1 : 0,
    set: { "trainer.total_batches": 6, "rollout.n": 8, "training.learning_rate": 0 },
  });
  const { runDir } = await trainer.train();
  const rows = coin.updates.flatMap((update) => update.rows);
  const signs = rows.map((row) => {
    const at = row.targetMask.indexOf(1);
    return [String.fromCharCode(row.tokens[at]!), Math.sign(row.advantages[at]!)].join("");
  });
  return {
    signs: new Set(signs),
    metrics: readLines(runDir, "metrics.jsonl"),
    warnings: events.filter(
      (event) => event.type === "warning" && event.message.includes("with n > 1"),
    ),
  };
}

describe("best of n", () => {
  it("trains the text that was put out: no draft has the reward of another", async () => {
    const { signs, warnings } = await run(
      async (task, config) => best(await complete(task, config)).message.content,
    );
    // The words "yes" are right and "no" are wrong, each time.
    expect([...signs].sort()).toEqual(["n-1", "y1"]);
    expect(warnings).toEqual([]);
  });

  it("trains the choice that a report names", async () => {
    const { signs } = await run(async (task, config) => {
      const completion = await complete(task, config);
      const { index, message } = best(completion);
      return {
        kind: "episode",
        metadata: { used: message.content },
        trajectories: [
          defineTrajectory({
            name: "agent",
            steps: [{ responseId: completion.id, choice: index }],
          }),
        ],
      };
    });
    expect([...signs].sort()).toEqual(["n-1", "y1"]);
  });

  it("trains nothing where nothing tells, counts it and says so once", async () => {
    const { signs, metrics, warnings } = await run(async (task, config) => ({
      answer: best(await complete(task, config)).message.content,
    }));
    // Calls whose choices are all alike are trained; of the others none is.
    const undecided = metrics.map((line) => Number(line["episode/calls/undecided_choices"]));
    expect(Math.max(...undecided)).toBeGreaterThan(0.5);
    expect([...signs].every((sign) => sign.endsWith("0"))).toBe(true);
    expect(warnings).toHaveLength(1);
  });
});
