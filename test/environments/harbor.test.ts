/** Task folders of Harbor: read, run with a stand-in for docker, scored by their own tests. */
import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { AgentFlow } from "../../src/core/agent.ts";
import type { AgentTrainerError } from "../../src/core/errors.ts";
import { readRewards, trialRewards } from "../../src/environments/harbor/rewards.ts";
import { environment } from "../../src/environments/index.ts";
import { evaluate } from "../../src/launch/evaluate/evaluate.ts";
import { createScriptedTarget } from "../../src/testing/index.ts";
import { writeContainerProgram } from "./container-stand-in.ts";
import { greeting, twoSteps, writeFiles } from "./harbor-tasks.ts";

const { signal } = new AbortController();
const bash = (command: string): string =>
  `<tool_call>${JSON.stringify({ name: "bash", arguments: { command } })}</tool_call>`;

let folder = "";
const programs = mkdtempSync(join(tmpdir(), "containers-"));
const path = process.env["PATH"] ?? "";
afterAll(() => void (process.env["PATH"] = path));
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "harbor-"));
  writeContainerProgram(programs, "docker");
  process.env["PATH"] = `${programs}:${path}`;
  await writeFiles(join(folder, "train/greeting"), greeting);
  await writeFiles(join(folder, "steps/mean"), twoSteps("mean", 0));
  await writeFiles(join(folder, "strict/final"), twoSteps("final", 1));
});

async function firstTask(name: string) {
  const source = environment(name);
  const { value } = await source.tasks("train")[Symbol.asyncIterator]().next();
  return { source, task: value! };
}

it("reads instructions and metadata, and splits from folders", async () => {
  const { source, task } = await firstTask(`harbor:${folder}`);
  expect(task).toMatchObject({
    id: "train/greeting",
    instruction: "Write hello to greeting.txt.\n",
    metadata: { difficulty: "easy" },
  });
  const val = source.tasks("val")[Symbol.asyncIterator]().next();
  await expect(val).rejects.toThrow(/no split "val"/u);
});

it("runs commands in the working folder, and the tests score what is there", async () => {
  const { source, task } = await firstTask(`harbor:${folder}`);
  const episode = await source.open(task, { signal });
  const run = async (command: string) => (await episode.call("bash", { command }, signal)).text;
  expect(await run("cat notes.txt; echo $COLOR $LANGUAGE_OF_TASK; exit 3")).toBe(
    "Be kind.\nblue en\n[exit code 3]",
  );
  expect(await run("echo hello > /app/greeting.txt")).toBe("[no output]");
  expect(await episode.respond?.("Done.", signal)).toMatchObject({ reward: 1, done: true });
  expect(readdirSync(join(programs, "containers"))).toHaveLength(1);
  await episode.close();
  await episode.close();
  expect(readdirSync(join(programs, "containers"))).toEqual([]);
});

describe("the program", () => {
  const openWith = async (names: Readonly<Record<string, boolean>>) => {
    const own = mkdtempSync(join(tmpdir(), "containers-"));
    for (const [name, works] of Object.entries(names)) writeContainerProgram(own, name, works);
    process.env["PATH"] = `${own}:/usr/bin:/bin`;
    try {
      const { source, task } = await firstTask(`harbor:${folder}`);
      const episode = await source.open(task, { signal });
      const opened = readdirSync(join(own, "containers")).length;
      await episode.close();
      return opened;
    } finally {
      process.env["PATH"] = `${programs}:${path}`;
    }
  };

  it("is podman where docker does not work", async () => {
    expect(await openWith({ docker: false, podman: true })).toBe(1);
  });

  it("is missed by name", async () => {
    await expect(openWith({ docker: false, podman: false })).rejects.toMatchObject({
      code: "ENVIRONMENT_FAILED",
      message: expect.stringMatching(/neither docker nor podman works/u) as unknown,
    });
  });
});

it("steps follow each other, and their rewards are averaged", async () => {
  const model = createScriptedTarget([
    bash("touch first.txt"),
    "Done.",
    bash("cat *hint*"),
    "Done.",
  ]);
  const env = `harbor:${join(folder, "steps")}`;
  const config = { environment: { valSplit: "train" } };
  const { items } = await evaluate({ env, config, model });
  expect(items).toMatchObject([{ reward: 0.5, terminationReason: "env_done" }]);
});

it("a first step below its least reward ends the task", async () => {
  const env = `harbor:${join(folder, "strict")}`;
  const { items } = await evaluate({
    env,
    config: { environment: { valSplit: "train" } },
    model: createScriptedTarget(["Done.", bash("touch first.txt second.txt")]),
  });
  expect(items).toMatchObject([{ reward: 0, terminationReason: "env_done" }]);
});

it("what is there at the limit of turns is scored", async () => {
  const { items } = await evaluate({
    env: `harbor:${folder}`,
    config: { environment: { valSplit: "train", maxTurns: 2 } },
    model: createScriptedTarget(() => bash("echo hello > greeting.txt")),
  });
  expect(items).toMatchObject([{ reward: 1, terminationReason: "max_turns_exceeded" }]);
});

it("what an agent of the user leaves is scored", async () => {
  const agentFlow: AgentFlow = async (_task, config) => {
    const command = "printf hello > greeting.txt";
    await config.environment?.call("bash", { command }, config.signal);
    await fetch(`${config.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${config.apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ model: config.model, messages: config.environment?.prompt }),
    });
    return "done";
  };
  const { items } = await evaluate({
    agentFlow,
    env: `harbor:${folder}`,
    config: { environment: { valSplit: "train" } },
    model: createScriptedTarget(["hm"]),
  });
  expect(items).toMatchObject([{ reward: 1, output: "done" }]);
});

it("tests without a reward fail the attempt, and say what they wrote", async () => {
  const broken = { ...greeting, "tests/test.sh": "#!/bin/bash\necho no pytest here\n" };
  await writeFiles(join(folder, "broken/task"), broken);
  const { source, task } = await firstTask(`harbor:${join(folder, "broken")}`);
  const episode = await source.open(task, { signal });
  await expect(episode.respond?.("Done.", signal)).rejects.toMatchObject({
    code: "ENVIRONMENT_FAILED",
    message: expect.stringMatching(/wrote no reward.*no pytest here/su) as unknown,
  });
  await episode.close();
});

it.each([
  ["no folder", "/no/such/folder", /which is not a folder/u],
  ["another field", ".?pass-env=A", /"pass-env"; there is pass_env/u],
])("%s is refused", (_name, text, message) => {
  expect(() => environment(`harbor:${text}`)).toThrow(message);
});

it.each([
  ["docker-compose", { "environment/docker-compose.yaml": "services: {}" }, /docker-compose/u],
  ["no tests", { "tests/test.sh": "" }, /./u],
  ["a wrong task.toml", { "task.toml": "[verifier]\ntimeout_sec = 'x'" }, /wrong task.toml/u],
  [
    "an image that cannot be built",
    { "environment/Dockerfile": "FROM a\nRUN apt-get update" },
    /"docker build --tag" failed: RUN apt-get update/u,
  ],
])("a task with %s is refused by name", async (name, files, message) => {
  const at = join(folder, "refused", name.replaceAll(" ", "-"));
  const all: Record<string, string> = { ...greeting, ...files };
  if (name === "no tests") delete all["tests/test.sh"];
  await writeFiles(join(at, "task"), all);
  const open = async () => {
    const { source, task } = await firstTask(`harbor:${at}`);
    await source.open(task, { signal });
  };
  await expect(open()).rejects.toMatchObject({
    code: "ENVIRONMENT_FAILED",
    message: expect.stringMatching(message) as unknown,
  });
});

describe("variables of this process", () => {
  const secret = "AGENT_TRAINER_TEST_SECRET";
  const reading = {
    ...greeting,
    "task.toml": greeting["task.toml"]!.replace(/WANTED = .*/u, `WANTED = "\${${secret}}" }`),
  };

  it.each(["environment", "verifier"])("are none of a task's: in env of its %s", async (part) => {
    const other = part === "environment" ? /(?<=env = \{ )LANGUAGE.*(?= \})/u : /(?!)/u;
    const toml = part === "verifier" ? reading["task.toml"] : greeting["task.toml"];
    const at = await writeFiles(join(folder, "stealing", part, "task"), {
      ...greeting,
      "task.toml": toml!.replace(other, `STOLEN = "x\${${secret}:-}"`),
    });
    vi.stubEnv(secret, "hf_of_the_trainer");
    try {
      for (const passed of ["", "?pass_env=HOME,LANG"]) {
        const { source, task } = await firstTask(`harbor:${at}${passed}`);
        const opening = source.open(task, { signal });
        await expect(opening).rejects.toMatchObject({ code: "ENVIRONMENT_FAILED" });
        const error = (await opening.catch((thrown: unknown) => thrown)) as AgentTrainerError;
        expect(error.message).toContain(`${secret}, which it may not read`);
        expect(error.hint).toContain(`pass_env=${passed === "" ? "" : "HOME,LANG,"}${secret}`);
        expect(JSON.stringify(error)).not.toContain("hf_of");
      }
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it("are read where pass_env names them", async () => {
    const at = await writeFiles(join(folder, "passed", "task"), reading);
    vi.stubEnv(secret, "hello");
    try {
      const { source, task } = await firstTask(`harbor:${at}?pass_env=${secret}`);
      const episode = await source.open(task, { signal });
      await episode.call("bash", { command: "printf hello > greeting.txt" }, signal);
      expect(await episode.respond?.("Done.", signal)).toMatchObject({ reward: 1 });
      await episode.close();
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

describe("rewards", () => {
  it.each([
    ['{"a": 1, "b": 0.5}', "0", { a: 1, b: 0.5 }],
    ["0.25", null, { reward: 0.25 }],
    [null, " 1.0\n", { reward: 1 }],
    ['{"a": "1"}', null, null],
    ["1e309", null, null],
    ["{}", null, null],
    [null, "", null],
    [null, null, null],
  ])("%j and %j", (json, text, wanted) => {
    expect(readRewards(json, text)).toEqual(wanted);
  });

  it("the mean counts a missing name as 0, and the last step may stand for all", () => {
    const steps = [{ reward: 1, style: 1 }, { reward: 0 }];
    const mean = { reward: 0.5, signals: { reward: 0.5, style: 0.5 } };
    expect(trialRewards(steps, null)).toEqual(mean);
    expect(trialRewards(steps, "final")).toEqual({ reward: 0, signals: { reward: 0 } });
    expect(trialRewards([{ a: 1, b: 0 }], null)).toMatchObject({ reward: 0.5 });
  });
});
