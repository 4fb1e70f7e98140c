import { describe, expect, it } from "vitest";
import type { AgentConfig } from "../../src/core/agent.ts";
import { defineTrajectory } from "../../src/core/report.ts";
import type { Task } from "../../src/core/task.ts";
import { coinBackend } from "../trainer/coin-backend.ts";
import { coinTrainer, readLines } from "../trainer/coin-run.ts";
import { request } from "../rollout/gateway-run.ts";

/** Two solvers in parallel and a judge of both; each is right when it says "yes". */
async function solverJudge(task: Task, config: AgentConfig) {
  const isRight = (answer: { content: string }): number => (answer.content === "yes" ? 1 : 0);
  const solvers = await Promise.all(
    [1, 2].map(async (i) => {
      const solver = config.trajectory(`solver ${i}`, { role: "solver" });
      const answer = await request(solver, `${task.instruction} Solver ${i}.`);
      return defineTrajectory({ name: "solver", uid: solver.uid, reward: isRight(answer) });
    }),
  );
  const judge = await request(config.trajectory("judge"), `${task.instruction} Judge.`);
  await request(config.trajectory("title", { train: false }), "A title, please.");
  return [...solvers, defineTrajectory({ name: "judge", reward: isRight(judge) })];
}

async function train(set: Record<string, unknown>) {
  const backend = coinBackend();
  const { trainer } = coinTrainer({
    backend,
    agentFlow: solverJudge,
    evaluator: () => true,
    set: { "trainer.total_batches": 4, "trainer.val_before_train": false, ...set },
  });
  const { runDir } = await trainer.train();
  const rows = backend.updates.flatMap((update) => update.rows);
  const roles = new Set(rows.map(({ provenance }) => provenance.trajectoryName));
  const metrics = readLines(runDir, "metrics.jsonl").filter(({ phase }) => phase === "train");
  return { weight: backend.weight, roles: [...roles].toSorted(), metrics };
}

describe("a solver–judge flow", () => {
  it("trains both roles and never the title", async () => {
    const { weight, roles, metrics } = await train({});
    expect(roles).toEqual(["judge", "solver"]);
    expect(weight).toBeGreaterThan(0);
    // Two tasks of four rollouts, one title each.
    expect(metrics.map((line) => line["groups/dropped/untrained"])).toEqual([8, 8, 8, 8]);
    expect(metrics.every((line) => line["groups/count"] !== undefined)).toBe(true);
  });

  it("trains one role alone when the run leaves the other out", async () => {
    const { weight, roles, metrics } = await train({ "rollout.untrained_roles": ["judge"] });
    expect(roles).toEqual(["solver"]);
    expect(weight).toBeGreaterThan(0);
    expect(metrics.map((line) => line["groups/dropped/untrained"])).toEqual([16, 16, 16, 16]);
  });

  it("trains nothing when the run leaves both out", async () => {
    const { weight, roles } = await train({ "rollout.untrained_roles": ["judge", "solver"] });
    expect([weight, roles]).toEqual([0, []]);
  });
});

describe("known traps", () => {
  it("W13: one trajectory without a reward costs itself, not the run", async () => {
    const backend = coinBackend();
    const { trainer } = coinTrainer({
      backend,
      agentRunFunc: async (task: Task, config: AgentConfig) => {
        const { id, content } = await request(config, task.instruction);
        await request(config, "not scored");
        const steps = [{ responseId: id }];
        return [defineTrajectory({ name: "scored", reward: content === "yes" ? 1 : 0, steps })];
      },
      ...({ agentFlow: undefined, evaluator: undefined } as object),
      set: { "trainer.val_before_train": false },
    });
    const { status, runDir } = await trainer.train();
    expect(status).toBe("completed");
    expect(backend.updates.length).toBeGreaterThan(0);
    const lines = readLines(runDir, "metrics.jsonl").filter(({ phase }) => phase === "train");
    expect(lines.map((line) => line["groups/dropped/no_reward"])).toEqual([8, 8, 8, 8]);
  });

  it("W20, W39: the run stops early when too many rollouts fail, and its episodes are kept", async () => {
    let started = 0;
    const { trainer, events } = coinTrainer({
      agentFlow: () => {
        started++;
        throw new Error("broken agent");
      },
      set: {
        "workflow.n_parallel_tasks": 1,
        "trainer.max_failed_fraction": 0.25,
        "trainer.val_before_train": false,
      },
    });
    await expect(trainer.train()).rejects.toMatchObject({
      code: "TOO_MANY_FAILURES",
      cause: { message: "broken agent" },
    });
    // Of eight rollouts two may fail; the third breaks the circuit.
    expect(started).toBe(3);
    const [start] = events;
    const runDir = start?.type === "run-start" ? start.runDir : "";
    const reasons = readLines(runDir, "episodes", "000001.jsonl").map(
      (e) => e["terminationReason"],
    );
    expect(reasons).toEqual([
      ...["error", "error", "error"],
      ...["aborted", "aborted", "aborted", "aborted", "aborted"],
    ]);
  });
});
