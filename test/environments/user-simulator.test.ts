/** A simulated user in rollouts: what it says is not trained on, and its failures are not the agent's. */
import { expect, it } from "vitest";
import type { AgentConfig } from "../../src/core/agent.ts";
import { defineEpisode } from "../../src/core/report.ts";
import type { Task } from "../../src/core/task.ts";
import type { Episode } from "../../src/core/trajectory.ts";
import { type UserModel, userSimulator } from "../../src/environments/index.ts";
import { evaluate } from "../../src/launch/evaluate/evaluate.ts";
import { callModel, type WireMessage } from "../../src/rollouts/workflow/model-call.ts";
import { createScriptedTarget } from "../../src/testing/index.ts";
import { coinTrainer } from "../trainer/coin-run.ts";

const dataset: readonly Task[] = Array.from({ length: 6 }, (_, i) => ({
  id: `t${i}`,
  instruction: `Question ${i}: yes or no?`,
  metadata: {},
}));

/** Talks until the user is done. */
const agent = (model: UserModel) => async (task: Task, config: AgentConfig) => {
  const user = userSimulator({ model, retries: 0, maxTurns: 2 }).begin(task, config);
  const messages: WireMessage[] = [];
  let output = "";
  for (let said = await user.say(); said !== null; said = await user.say(output)) {
    messages.push({ role: "user", content: said });
    const { message, content } = await callModel(config, config, messages);
    messages.push(message);
    output = content;
  }
  return defineEpisode({ output, metrics: user.metrics(), trajectories: [] });
};
const evaluator = (_task: Task, episode: Episode): boolean => episode.output === "yes";

it("excludes a user that the policy plays from what is trained", async () => {
  const episodes: Episode[] = [];
  await evaluate({
    agentFlow: agent("policy"),
    evaluator,
    dataset,
    model: createScriptedTarget(({ text }) =>
      text.includes("You play the user") ? "Well?" : "yes",
    ),
    onEpisode: (episode) => episodes.push(episode),
  });
  expect(episodes).toHaveLength(6);
  for (const { trajectories, isCorrect, metrics } of episodes) {
    const found = trajectories.map(({ name, untrained, steps }) => [
      name,
      untrained !== undefined,
      steps.length,
    ]);
    expect(found.toSorted()).toEqual([
      ["agent", false, 2],
      ["user", true, 2],
    ]);
    expect([isCorrect, metrics["user_turns"]]).toEqual([true, 2]);
  }
});

it("counts a user that fails apart: no reward, not incorrect, its own reason", async () => {
  const broken = new Set(["t1", "t4"]);
  const { summary, items } = await evaluate({
    agentFlow: (task: Task, config: AgentConfig) =>
      agent(() => (broken.has(task.id) ? "" : "Well?"))(task, config),
    evaluator,
    dataset,
    model: createScriptedTarget(() => "yes"),
  });
  expect(summary.terminationReasons).toEqual({ completed: 4, user_error: 2 });
  expect(summary.reward?.mean).toBe(1);
  expect(summary.passAt["1"]?.mean).toBe(1);
  expect(summary.metrics["val/reward/mean"]).toBe(1);
  const failed = items.filter(({ id }) => broken.has(id));
  expect(failed.map(({ reward, error }) => [reward, error?.code])).toEqual([
    [null, "USER_FAILED"],
    [null, "USER_FAILED"],
  ]);
});

it("trains on the rollouts whose user did not fail", async () => {
  let calls = 0;
  const { trainer, events } = coinTrainer({
    agentFlow: agent(() => (++calls % 5 === 0 ? "" : "Well?")),
    set: { "trainer.total_batches": 2, "trainer.max_failed_fraction": 1 },
  });
  await trainer.train();
  const steps = events.flatMap((event) => (event.type === "step-end" ? [event.metrics] : []));
  expect(steps).toHaveLength(2);
  expect(steps[0]!["rollout/termination_fraction/user_error"]).toBeGreaterThan(0);
  expect(steps[0]!["rollout/termination_fraction/error"]).toBeUndefined();
  expect(steps[0]!["reward/mean"]).toBeGreaterThan(0);
});
