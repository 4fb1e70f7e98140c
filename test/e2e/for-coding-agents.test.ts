/** Follows docs/for-coding-agents.md: runs its commands, in order, in an empty folder. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { codeBlocks, prose, readPage } from "../docs/pages.ts";
import { pageProject, type PageProject } from "./page-project.ts";

const page = readPage("docs/for-coding-agents.md");
const blocks = codeBlocks(page);
/** What the commands of a block printed, by the name of the block. */
const printed = new Map<string, string>();
let project: PageProject;

/** The object that the command printed last. */
function result(name: string): Record<string, unknown> {
  const lines = printed.get(name)!.trim().split("\n");
  return JSON.parse(lines.findLast((line) => line.startsWith("{"))!) as Record<string, unknown>;
}

beforeAll(async () => {
  project = await pageProject();
  await project.install(["agent-trainer", "tsx"]);
  for (const { info, code } of blocks) printed.set(info[1]!, await project.shell(code));
}, 600_000);
afterAll(() => project[Symbol.asyncDispose]());

it("has ten steps, each with commands that are run here", () => {
  expect([...prose(page).matchAll(/^\*\*(\d+)\. /gmu)].map(([, step]) => Number(step))).toEqual([
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
  ]);
  expect(blocks.map(({ info }) => info[0])).toEqual(Array.from({ length: 10 }, () => "sh"));
  expect(printed.size).toBe(10);
});

it("gives an agent what the page says there is to read", () => {
  expect(result("doctor")).toHaveProperty("node");
  expect(result("init")).toMatchObject({ framework: "fetch" });
  expect(printed.get("explain")).toContain("rollout.n");
  expect(result("train")).toMatchObject({ status: "completed", steps: 6 });
  expect(printed.get("look")).toContain('"health":');
  expect(result("after")).toMatchObject({ isWorse: false });
});
