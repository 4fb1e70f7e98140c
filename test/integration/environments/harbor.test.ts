/** Harbor's own models read the tasks of our tests, and tasks run in bubblewrap where it works. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { environment } from "../../../src/environments/index.ts";
import { greeting, twoSteps, writeFiles } from "../../environments/harbor-tasks.ts";
import { harborPython } from "./python.ts";

const { signal } = new AbortController();
const hasBubblewrap =
  spawnSync("bwrap", ["--ro-bind", "/", "/", "--unshare-all", "true"]).status === 0;

let folder = "";
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "harbor-"));
  await writeFiles(join(folder, "greeting"), greeting);
  await writeFiles(join(folder, "steps"), twoSteps("mean", 1));
});

it("Harbor reads the same tasks", { timeout: 900_000 }, () => {
  const script = `
import sys
from harbor.models.task.task import Task
for name in ("greeting", "steps"):
    task = Task(f"{sys.argv[1]}/{name}")
    print(task.config.verifier.timeout_sec, [step.name for step in task.config.steps or []])
`;
  const { stdout, stderr } = spawnSync(harborPython(), ["-c", script, folder], {
    encoding: "utf8",
  });
  expect(stdout, stderr).toBe("30.0 []\n600.0 ['first', 'second']\n");
});

it.runIf(hasBubblewrap)("bubblewrap shows the task its own folders only", async () => {
  const source = environment(`harbor:${folder}?runner=bubblewrap`);
  const tasks = [];
  for await (const task of source.tasks("train")) tasks.push(task);
  const episode = await source.open(tasks[0]!, { signal });
  const run = async (command: string) => (await episode.call("bash", { command }, signal)).text;
  expect(await run("pwd; cat notes.txt; ls /root /home 2>&1 | wc -l")).toMatch(
    /^\/app\nBe kind\./u,
  );
  expect(await run(`ls ${import.meta.dirname}`)).toMatch(/No such file/u);
  expect(await run("touch /usr/x")).toMatch(/Read-only/u);
  // A link out of the sandbox: the tests are copied in, but not through it.
  const victim = mkdtempSync(join(tmpdir(), "victim-"));
  await run(`ln -s ${victim} /tests/link; echo hello > greeting.txt`);
  expect(await episode.respond?.("Done.", signal)).toMatchObject({ reward: 1, done: true });
  expect(existsSync(join(victim, "test.sh"))).toBe(false);
  await episode.close();
});

it.runIf(hasBubblewrap)("steps in bubblewrap: files, tests and instructions of each", async () => {
  const source = environment(`harbor:${join(folder, "steps")}?runner=bubblewrap`);
  const { value } = await source.tasks("train")[Symbol.asyncIterator]().next();
  const episode = await source.open(value, { signal });
  await episode.call("bash", { command: "touch first.txt" }, signal);
  const next = await episode.respond?.("Done.", signal);
  expect(next).toEqual({ text: "Make second.txt.\n", done: false });
  const { text } = await episode.call("bash", { command: "cat second-hint.txt" }, signal);
  expect(text).toBe("hint of second");
  expect(await episode.respond?.("Done.", signal)).toEqual({
    text: "",
    reward: 0.5,
    signals: { reward: 0.5, style: 0.5 },
    done: true,
  });
  await episode.close();
});
