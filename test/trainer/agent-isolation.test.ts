/** What agents return, throw and do to their tasks stays their own rollout's. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { coinAgent, coinTasks, coinTrainer, readLines } from "./coin-run.ts";

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((path) => statSync(path).isFile());
}

describe("a run", () => {
  it("survives a cycle, a BigInt and an error that cannot be read, and names them", async () => {
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    const unreadable = Object.defineProperty(new Error("x"), "name", {
      get() {
        throw new Error("hands off");
      },
    });
    let calls = 0;
    const { trainer } = coinTrainer({
      agentFlow: async (task, config) => {
        const text = await coinAgent(task, config);
        switch (calls++ % 8) {
          case 0:
            return cycle;
          case 1:
            return { count: 1n };
          case 2:
            throw unreadable;
          default:
            return text;
        }
      },
    });
    const { runDir, steps } = await trainer.train();
    expect(steps).toBe(4);
    const errors = readLines(runDir, "episodes", "000001.jsonl").flatMap(({ error }) =>
      error === undefined ? [] : [(error as { message: string }).message],
    );
    expect(errors.toSorted()).toEqual([
      "The agent flow returned a BigInt in its output, which cannot be written to the run folder.",
      "The agent flow returned a cycle in its output, which cannot be written to the run folder.",
      "an error that cannot be read was thrown",
    ]);
  });

  it("writes no key down that an agent put into an error, a retry or an evaluator's error", async () => {
    const key = "sk-proj-0123456789abcdefghij";
    let calls = 0;
    const { trainer, events } = coinTrainer({
      agentFlow: async (task, config) => {
        const text = await coinAgent(task, config);
        calls++;
        if (calls % 3 !== 0) return text;
        const error = new Error(`401 with api_key=${key} and ${config.apiKey}`);
        error.name = `Refused ${key}`;
        throw error;
      },
      evaluator: (_task, { rolloutIndex }) => {
        if (rolloutIndex === 0) throw new Error(`judge said 401 to ${key}`);
        return rolloutIndex % 2 === 0;
      },
      set: { "rollout.retry_agent_errors": true, "workflow.retry_limit": 1 },
    });
    const { runDir } = await trainer.train();
    expect(events.some(({ type }) => type === "rollout-retry")).toBe(true);
    expect(events.some(({ type }) => type === "evaluator-error")).toBe(true);
    const files = filesBelow(runDir);
    expect(files.length).toBeGreaterThan(4);
    for (const file of files) {
      const text = readFileSync(file, "utf8");
      expect(text).not.toContain(key);
      expect(text).not.toMatch(/session-[\w-]{32,}/u);
    }
    expect(JSON.stringify(events)).not.toContain(key);
  });

  it("gives each rollout a task of its own, functions and objects of classes as they are", async () => {
    class Price {
      readonly cents: number;
      constructor(cents: number) {
        this.cents = cents;
      }
      get euros(): number {
        return this.cents / 100;
      }
    }
    const seen: number[] = [];
    const { trainer } = coinTrainer({
      trainDataset: coinTasks.map((task) => ({
        ...task,
        metadata: { hints: [] as string[], price: new Price(250), ask: (x: number) => x + 1 },
      })),
      agentFlow: async (task, config) => {
        const { hints, price, ask } = task.metadata as unknown as {
          hints: string[];
          price: Price;
          ask: (x: number) => number;
        };
        seen.push(hints.length);
        hints.push("from a sibling");
        expect([price.euros, ask(1)]).toEqual([2.5, 2]);
        return await coinAgent(task, config);
      },
    });
    const { status } = await trainer.train();
    expect(status).toBe("completed");
    expect(seen).toHaveLength(32);
    expect(seen.every((count) => count === 0)).toBe(true);
  });
});
