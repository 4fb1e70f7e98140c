import { describe, expect, it } from "vitest";
import { type AgentSpec, resolveAgent } from "../../src/rollouts/service/agent-spec.ts";
import { MultiTurnWorkflow } from "../../src/rollouts/workflow/multi-turn.ts";

const agentFlow = () => "x";
const evaluator = () => true;
const agentRunFunc = () => 1;
const Thing = MultiTurnWorkflow;

describe("the way in", () => {
  it.each<[string, object, string]>([
    ["none", {}, "AgentTrainer needs an agent."],
    ["null", { agentFlow: null }, "AgentTrainer needs an agent."],
    [
      "two",
      { agentFlow, evaluator, agentRunFunc },
      "AgentTrainer was given agentFlow and agentRunFunc",
    ],
    [
      "three",
      { agentFlow, workflowClass: MultiTurnWorkflow, agentClass: Thing },
      "agentFlow and workflowClass and agentClass",
    ],
    ["no evaluator", { agentFlow }, "AgentTrainer needs evaluator"],
    ["no flow", { agentFlow: {}, evaluator }, "agentFlow must be a function"],
    ["no real evaluator", { agentFlow, evaluator: 7 }, "evaluator must be a function"],
    ["hooks without setUp", { agentFlow, hooks: {} }, "hooks has no method setUp"],
    ["no class", { workflowClass: agentFlow }, "not a class with a method run(task)"],
    [
      "a wrong argument",
      { workflowClass: MultiTurnWorkflow, workflowArgs: { gamma: 2 } },
      "gamma is 2",
    ],
    ["agent without env", { agentClass: Thing }, "agentClass without envClass"],
    [
      "env without agent",
      { envClass: Thing, agentRunFunc },
      "agentRunFunc and envClass, which has no",
    ],
    ["arguments of another way", { agentFlow, evaluator, workflowArgs: {} }, "and workflowArgs"],
    ["two scores", { agentRunFunc, evaluator }, "agentRunFunc and evaluator, which has no meaning"],
    ["no function", { agentRunFunc: {} }, "agentRunFunc must be a function"],
  ])("may not be %s", (_, given, message) => {
    expect(() => resolveAgent(given as AgentSpec)).toThrow(message);
  });

  it("may be a flow whose set-up brings the evaluator", () => {
    const { evaluator: common, hooks } = resolveAgent({
      agentFlow,
      hooks: { setUp: () => ({ evaluator }) },
    });
    expect(common).toBeNull();
    expect(hooks).toBeDefined();
  });

  it("knows the tasks' metadata, and refuses other scores when it is compiled", async () => {
    const way: AgentSpec<{ gold: string }> = {
      agentFlow: (task, config) => `${task.metadata.gold} ${config.model}`,
      evaluator: (task, { output }) => [output === task.metadata.gold ? 1 : 0, true],
      hooks: { setUp: async (task) => ({ env: task.metadata.gold.length }) },
    };
    expect(resolveAgent(way).evaluator).toBe(way.evaluator);
    const wrong: AgentSpec<{ gold: string }> = {
      agentFlow,
      // @ts-expect-error a text is no score
      evaluator: () => "good",
    };
    expect(resolveAgent(wrong).program.what).toBe("The agent flow");
    // @ts-expect-error nor is a text a reward
    const run: AgentSpec = { agentRunFunc: () => "good" };
    expect(resolveAgent(run).program.what).toBe("agentRunFunc");
  });
});
