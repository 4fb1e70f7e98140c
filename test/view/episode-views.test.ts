import { expect, it } from "vitest";
import type { ChatMessage } from "../../src/core/message.ts";
import { viewTrajectories } from "../../src/view/episode/conversation.ts";
import { isToolError } from "../../src/core/message-text.ts";
import { tokenView } from "../../src/view/episode/token-view.ts";
import { makeStep } from "../make-step.ts";
import type { Trace } from "../../src/core/trace.ts";
import type { Trajectory } from "../../src/core/trajectory.ts";
import { madeEpisode } from "./view-run.ts";

const user = (content: string): ChatMessage => ({ role: "user", content });
const assistant = (content: string): ChatMessage => ({ role: "assistant", content });

/** The calls of an episode whose prompts and responses are these. */
function calls(...steps: readonly (readonly [readonly ChatMessage[], string])[]) {
  const episode = madeEpisode({ id: "1/a/0", responses: [] });
  const made = steps.map(([messages, text]) => makeStep({ messages, response: assistant(text) }));
  const [trajectory] = episode.trajectories;
  return viewTrajectories({ ...episode, trajectories: [{ ...trajectory!, steps: made }] })[0]!
    .calls;
}

it("shows each message once, and says where a prompt does not continue the one before", () => {
  const system: ChatMessage = { role: "system", content: "Be brief." };
  const start = [system, user("hi")];
  const grown = calls([start, "a"], [[...start, assistant("a"), user("more")], "b"]);
  expect(grown[1]!.newMessages.map(({ text }) => text)).toEqual(["more"]);
  expect(grown[1]!.break).toBeUndefined();
  const edited = calls([start, "a"], [[...start, assistant("A!"), user("more")], "b"]);
  expect(edited[1]!.break).toContain("another response than the model had written");
  const left = calls([start, "a"], [[...start, user("more")], "b"]);
  expect(left[1]!.break).toContain("left the response");
  const long = [...start, assistant("a"), user("b"), assistant("c"), user("d")];
  const compacted = calls([long, "e"], [[system, user("summary")], "f"]);
  expect(compacted[1]!.break).toContain("5 of 6 messages were replaced");
  expect(compacted[1]!.newMessages.map(({ text }) => text)).toEqual(["summary"]);
  const again = calls([start, "a"], [start, "b"]);
  expect(again[1]).toMatchObject({ newMessages: [], break: expect.stringContaining("retry") });
});

it("knows a tool's error by its form", () => {
  for (const text of [
    "Error: no such item",
    "Traceback (most recent call last)",
    '{"error":"x"}',
    '{"a":1,"isError":true}',
  ])
    expect(isToolError(text), text).toBe(true);
  for (const text of ["25", "errors: none", '{"error":null}', '{"price":3}', "No error occurred"])
    expect(isToolError(text), text).toBe(false);
});

it("says in words why a call is not trained", () => {
  const episode = madeEpisode({ id: "1/a/0", responses: ["x"] });
  const reasons = (phase: "train" | "validation", group: readonly number[], of = episode) =>
    tokenView(of, 0, { phase, group, decode: null })!.untrained;
  expect(reasons("train", [1, 0])).toEqual([]);
  expect(reasons("train", [1, 1, 1])[0]).toContain("All 3 rollouts of the task have the reward 1");
  expect(reasons("validation", [1, 0])[0]).toContain("from a validation");
  const [trajectory] = episode.trajectories;
  const steps = [makeStep({ untrainable: "the client was gone", sideCall: "titles" })];
  const excluded = {
    ...episode,
    reward: null,
    trajectories: [{ ...trajectory!, steps, untrained: "role judge" }],
  };
  expect(reasons("train", [], excluded)).toEqual([
    "The rollout has no reward.",
    "Its trajectory is excluded from training: role judge.",
    "The call cannot be trained on: the client was gone.",
  ]);
});

it("says in which row of several a call is trained, what for, and why others are not", () => {
  const call = (id: string, prompt: readonly number[], fields: Partial<Trace> = {}) =>
    makeStep({
      ...{ id, sequence: Number(id.slice(1)), promptIds: Int32Array.from(prompt) },
      ...{ responseIds: Int32Array.of(9), logprobs: Float32Array.of(-1), ...fields },
    });
  const trajectory = madeEpisode({ id: "1/a/0", responses: ["x"] }).trajectories[0]!;
  const told = "The parser fails at line 3.";
  const steps = [
    call("t0", [1]),
    call("t1", [1, 9, 2], { response: { role: "assistant", content: told } }),
    call("t2", [3], { messages: [{ role: "user", content: `So far: ${told}` }] }),
    call("t3", [4], { sideCall: "sub-agent" }),
  ];
  const episode = { ...madeEpisode({ id: "1/a/0", responses: ["x"] }) };
  const notes = (changes: Partial<Trajectory>) =>
    viewTrajectories({
      ...episode,
      trajectories: [{ ...trajectory, steps, ...changes }],
    })[0]!.calls.map((one) => one.notes);
  expect(notes({})).toEqual([
    ["row 1 of 3"],
    ["row 1 of 3, a summary, with which a later row begins"],
    ["row 2 of 3"],
    ['side call by the rule "sub-agent"', "row 3 of 3, of a sub-agent"],
  ]);
  expect(notes({ steps: steps.slice(0, 1) })).toEqual([[]]);
  expect(notes({ steps: steps.slice(0, 1), untrained: "side call: title" })).toEqual([
    ["not trained on: side call: title"],
  ]);
});
