import { expect, it } from "vitest";
import { makeStep } from "../../test/make-step.ts";
import { callKinds, type CallKind } from "./lineage-kinds.ts";
import type { ChatMessage } from "./message.ts";
import type { Step } from "./trajectory.ts";

const task = "Find out why the build of the parser fails.";
const told = "The build fails since the parser reads a tab as a space.";

let sequence = 0;
function step(
  said: readonly ChatMessage[],
  response: Partial<ChatMessage> = {},
  rule?: string,
): Step {
  return makeStep({
    ...{ id: `t${sequence}`, sequence: sequence++, messages: said },
    response: { role: "assistant", content: "", ...response },
    ...(rule === undefined ? {} : { sideCall: rule }),
  });
}
const user = (content: string): ChatMessage => ({ role: "user", content });
const asks = (name: string, given: object) => ({
  toolCalls: [{ id: "c", name, arguments: JSON.stringify(given) }],
});

const cases: readonly (readonly [string, Step[][], Record<number, CallKind>])[] = [
  ["one lineage has none", [[step([user(task)], { content: told })]], {}],
  [
    "a summary: its text is in what begins the next lineage",
    [
      [step([user(task)]), step([user("Summarize.")], { content: told })],
      [step([user(`Until now: ${told}`)])],
    ],
    { 1: "summary" },
  ],
  [
    "no summary: history that was edited holds the text as what the model wrote",
    [
      [step([user(task)], { content: told })],
      [step([user("edited"), { role: "assistant", content: told }, user("And?")])],
    ],
    {},
  ],
  [
    "a sub-agent: a tool call had its task",
    [
      [step([user(task)], asks("Task", { prompt: "Read the grammar of the parser." }))],
      [
        step([{ role: "system", content: "You read." }, user("Read the grammar of the parser.")]),
        step([user("Read the grammar of the parser."), user("more")]),
      ],
    ],
    { 1: "sub_agent", 2: "sub_agent" },
  ],
  [
    "neither: short texts occur everywhere",
    [
      [step([user(task)], { content: "yes", ...asks("run", { command: "ls" }) })],
      [step([user("yes, ls")])],
    ],
    {},
  ],
  [
    "by rules, whatever the texts are",
    [
      [step([user(task)])],
      [step([user("s")], { content: "short" }, "summary")],
      [step([user("x")], {}, "sub-agent")],
    ],
    { 1: "summary", 2: "sub_agent" },
  ],
];

it.each(cases)("%s", (_name, lineages, expected) => {
  const kinds = callKinds(lineages);
  const found = lineages.flat().map((one) => kinds.get(one));
  expect(found).toEqual(found.map((_, i) => expected[i]));
});
