/** Follows docs/tutorial.md: writes its files and runs its commands, in order, in an empty folder. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, afterAll, expect, it } from "vitest";
import { codeBlocks, readPage } from "../docs/pages.ts";
import { isShell, nameOf, notPrinted, startServer } from "../follow-page.ts";
import { freePort } from "../free-port.ts";
import { pageProject, type PageProject } from "./page-project.ts";

const blocks = codeBlocks(readPage("docs/tutorial.md"));

let project: PageProject;
let server: AsyncDisposable | undefined;
/** Free on this machine; the page says 9090. */
let port: number;
/** What the commands of a block printed, by the name of the block. */
const printed = new Map<string, string>();

/** What the page installs. */
const install = (commands: string): Promise<void> =>
  project.install(commands.split(/\s+/u).filter((word) => !/^(?:npm|install|--.*|)$/u.test(word)));

const rewards = (text: string, line: RegExp): number[] =>
  [...text.matchAll(line)].map((match) => Number(match[1]));
const steps = /^step \d+\/\d+ reward ([\d.]+)/gmu;
const validations = /^validation after step \d+: reward ([\d.]+)/gmu;

beforeAll(async () => {
  project = await pageProject();
  port = await freePort();
  for (const block of blocks) {
    const name = nameOf(block);
    const code = block.code.replaceAll("9090", String(port));
    if (isShell(block) && name === "install") await install(code);
    else if (isShell(block) && name === "serve")
      server = await startServer(code, project.path, port);
    else if (isShell(block)) printed.set(name ?? `line ${block.line}`, await project.shell(code));
    else if (block.info[0] !== "text") await writeFile(join(project.path, name!), code);
  }
}, 600_000);
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await project[Symbol.asyncDispose]();
});

it("names every file and runs every command that it shows", () => {
  expect(blocks.filter((block) => block.info[0] === "")).toEqual([]);
  expect([...printed.keys()]).toEqual(
    expect.arrayContaining(["train", "look", "control", "resume", "export", "ask", "code"]),
  );
});

it("trains: the reward goes up, in training and on tasks that training never sees", () => {
  const text = printed.get("train")!;
  const reward = rewards(text, steps);
  expect(reward).toHaveLength(15);
  expect(reward[0]).toBeLessThan(0.35);
  expect(reward.at(-1)).toBeGreaterThan(0.7);
  const [before, after] = rewards(text, validations);
  expect(after).toBeGreaterThan(before! + 0.4);
});

it("looks at the metrics: the same rewards, as bars", () => {
  const bars = [...printed.get("look")!.matchAll(/^\d+ (#*)$/gmu)].map(([, bar]) => bar!.length);
  const reward = rewards(printed.get("train")!, steps);
  expect(bars).toEqual(reward.map((value) => expect.closeTo(value * 40, 0)));
});

it("has a control that learns nothing", () => {
  const [before, after] = rewards(printed.get("control")!, validations);
  expect(after).toBe(before);
});

it("resumes where the run ended", () => {
  const text = printed.get("resume")!;
  expect(text).toContain("resumed after step 15");
  expect(text).toContain("training.learning_rate changed from 0.0005 to 0.0002");
  expect(rewards(text, steps)).toHaveLength(2);
});

it("serves the exported model to the same agent, which gives the right result", () => {
  expect(printed.get("ask")!.trim().split("\n").at(-1)).toBe("180");
});

it("does the same from code", () => {
  expect(printed.get("code")).toContain("completed 2");
});

it.each(["train", "resume", "ask"])("shows what %s prints", (name) => {
  expect(notPrinted(blocks, name, printed.get(name)!)).toEqual([]);
});
