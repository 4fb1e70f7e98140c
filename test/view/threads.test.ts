import { expect, it } from "vitest";
import type { Trace } from "../../src/core/trace.ts";
import { viewTrajectories } from "../../src/view/episode/conversation.ts";
import { findThreads } from "../../src/view/episode/threads.ts";
import { makeStep } from "../make-step.ts";
import { madeEpisode } from "./view-run.ts";

const system = (content: string) => ({ role: "system", content }) as const;
const user = (content: string) => ({ role: "user", content }) as const;
const tool = (name: string) => ({ name, parameters: {} }) as Trace["tools"][number];
const calling = (name: string): Trace["response"] => ({
  role: "assistant",
  content: "",
  toolCalls: [{ id: "1", name, arguments: "{}" }],
});

/** A coding agent that starts two sub-agents at the same time, and gets a title. */
const steps = [
  makeStep({
    id: "title",
    messages: [system("Write a title."), user("Fix the bug")],
    sideCall: "title",
    startedAt: 0,
    finishedAt: 5,
  }),
  makeStep({
    id: "m1",
    messages: [system("You code."), user("Fix the bug")],
    tools: [tool("Task"), tool("Edit")],
    response: calling("Task"),
    startedAt: 0,
    finishedAt: 10,
  }),
  makeStep({
    id: "a1",
    messages: [system("You search."), user("Find the file")],
    tools: [tool("Grep")],
    response: calling("Grep"),
    sideCall: "sub-agent",
    startedAt: 11,
    finishedAt: 20,
  }),
  makeStep({
    id: "b1",
    messages: [system("You search."), user("Find the test")],
    tools: [tool("Grep")],
    sideCall: "sub-agent",
    startedAt: 12,
    finishedAt: 25,
  }),
  makeStep({
    id: "a2",
    messages: [system("You search."), user("Find the file"), calling("Grep"), user("found")],
    tools: [tool("Grep")],
    sideCall: "sub-agent",
    parentId: "a1",
    startedAt: 21,
    finishedAt: 30,
  }),
  makeStep({
    id: "m2",
    messages: [system("You code."), user("Fix the bug"), calling("Task"), user("in a.ts")],
    tools: [tool("Task"), tool("Edit")],
    startedAt: 31,
    finishedAt: 40,
  }),
];

it("finds sub-agents and side calls, and the call that had begun each", () => {
  const { of, threads } = findThreads(steps, 0);
  expect(of).toEqual([0, 1, 2, 3, 2, 1]);
  expect(threads).toEqual([
    { name: 'side call by the rule "title"', calls: [0], parent: null, depth: 0 },
    { name: "Fix the bug", calls: [1, 5], parent: null, depth: 0 },
    { name: 'side call by the rule "sub-agent"', calls: [2, 4], parent: 1, depth: 1 },
    { name: 'side call by the rule "sub-agent"', calls: [3], parent: 1, depth: 1 },
  ]);
});

it("says nothing of a broken prefix where another conversation came in between", () => {
  const episode = madeEpisode({ id: "1/a/0", responses: [] });
  const [trajectory] = episode.trajectories;
  const [{ calls, threads }] = viewTrajectories({
    ...episode,
    trajectories: [{ ...trajectory!, steps }],
  }) as [ReturnType<typeof viewTrajectories>[number]];
  expect(threads).toHaveLength(4);
  expect(calls.map((call) => call.break)).toEqual(steps.map(() => undefined));
  expect(calls[5]!.newMessages.map(({ text }) => text)).toEqual(["in a.ts"]);
});

it("keeps a history that was edited, compacted or sent again in its conversation", () => {
  const asked = [system("Be brief."), user("a")];
  const made = [
    makeStep({ id: "1", messages: asked, startedAt: 0, finishedAt: 1 }),
    makeStep({ id: "2", messages: [asked[0]!, user("b")], startedAt: 1, finishedAt: 2 }),
    makeStep({ id: "3", messages: asked, startedAt: 2, finishedAt: 3 }),
  ];
  expect(findThreads(made, 7).threads).toEqual([
    { name: "main", calls: [7, 8, 9], parent: null, depth: 0 },
  ]);
});

it("takes calls at the same time for several conversations", () => {
  const at = { startedAt: 0, finishedAt: 5, messages: [user("a")] };
  const { of } = findThreads([makeStep({ id: "1", ...at }), makeStep({ id: "2", ...at })], 0);
  expect(of).toEqual([0, 1]);
});

it("survives lines that lack times and tools", () => {
  const bare = { messages: [user("a")], response: { role: "assistant", content: "" } };
  const made = [{ trace: { ...bare, parentId: null } }, { trace: { ...bare, parentId: null } }];
  expect(findThreads(made as never, 0).threads).toHaveLength(1);
});
