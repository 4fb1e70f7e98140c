/** Commands as agents: what they get, what becomes of their answers, and that nothing of them survives. */
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { commandAgent } from "../../src/rollouts/agents/command/command-agent.ts";
import type { CommandAgentOptions } from "../../src/rollouts/agents/command/command-options.ts";
import { runThroughGateway, type GatewayRun } from "../rollout/gateway-run.ts";
import { expectAttributed, scriptFolder } from "./agent-script.ts";

const isLinux = process.platform === "linux";

const runScript = (
  source: string,
  options: Partial<CommandAgentOptions> = {},
  run: GatewayRun = {},
) =>
  runThroughGateway({
    flow: commandAgent({
      command: [process.execPath, "agent.mjs"],
      folder: scriptFolder(source),
      graceMs: 0,
      ...options,
    }),
    ...run,
  });

describe("what a command gets", () => {
  it("is the task on its input and in its environment, and the model", async () => {
    const { episode } = await runScript(
      `const { task, config } = readRollout();
       const own = JSON.parse(process.env.AGENT_TRAINER_TASK);
       const names = ["OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_API_KEY", "OPENAI_MODEL",
         "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_MODEL"];
       const env = Object.fromEntries(names.map((name) => [name, process.env[name]]));
       console.log(JSON.stringify({ task, config, own, env, answer: await ask("a says hi") }));`,
      { output: "json" },
    );
    const { task, config, own, env, answer } = episode.output as Record<string, unknown>;
    const { base_url, api_key } = config as { base_url: string; api_key: string };
    expect(task).toMatchObject({ id: "a", instruction: "Do a.", metadata: { gold: "a" } });
    expect(own).toEqual(task);
    expect(answer).toBe("ok");
    expect(env).toEqual({
      OPENAI_BASE_URL: base_url,
      OPENAI_API_BASE: base_url,
      OPENAI_API_KEY: api_key,
      OPENAI_MODEL: "scripted",
      ANTHROPIC_BASE_URL: base_url.replace(/\/v1$/u, ""),
      ANTHROPIC_API_KEY: api_key,
      ANTHROPIC_AUTH_TOKEN: api_key,
      ANTHROPIC_MODEL: "scripted",
    });
    expectAttributed([episode], 1);
  });

  it("is a home and a working folder of its own, and none of the caller's keys", async () => {
    vi.stubEnv("SECRET_OF_A_TEST", "1");
    vi.stubEnv("LC_SECRET_OF_A_TEST", "1");
    vi.stubEnv("LC_PAPER", "C");
    vi.stubEnv("CHOSEN_OF_A_TEST", "2");
    onTestFinished(() => void vi.unstubAllEnvs());
    const { episode } = await runScript(
      `import { existsSync, readFileSync, writeFileSync } from "node:fs";
       import { homedir, tmpdir } from "node:os";
       writeFileSync("made.txt", "by the agent");
       console.log(JSON.stringify({
         cwd: process.cwd(), home: homedir(), temp: tmpdir(),
         given: readFileSync("in/given.txt", "utf8"), config: existsSync(homedir() + "/.tool/c"),
         secret: process.env.SECRET_OF_A_TEST ?? process.env.LC_SECRET_OF_A_TEST ?? null,
         paper: process.env.LC_PAPER, chosen: process.env.CHOSEN_OF_A_TEST,
       }));`,
      {
        output: "json",
        files: ({ task }) => ({ "in/given.txt": `for ${task.id}` }),
        homeFiles: { ".tool/c": "x" },
        passEnv: ["CHOSEN_OF_A_TEST"],
        collect: ["made.txt", "absent.txt"],
      },
    );
    const { cwd, home, temp, ...rest } = episode.output as Record<string, string>;
    expect(rest).toEqual({ given: "for a", config: true, secret: null, paper: "C", chosen: "2" });
    for (const name of [
      "SECRET_OF_A_TEST",
      "LC_SECRET_OF_A_TEST",
      "LC_PAPER",
      "CHOSEN_OF_A_TEST",
    ]) {
      delete process.env[name];
    }
    expect(new Set([cwd, home, temp]).size).toBe(3);
    expect([cwd, home, temp].map((path) => existsSync(path!))).toEqual([false, false, false]);
    expect(episode.metadata).toEqual({
      process: { exitCode: 0, stderr: "" },
      files: { "made.txt": "by the agent" },
    });
  });

  it("keeps 16 rollouts at a time apart", async () => {
    const { episodes } = await runScript(
      `const { task } = readRollout();
       for (let turn = 0; turn < 3; turn++) await ask(task.id + " turn " + turn);
       console.log(task.id);`,
      {},
      { tasks: Array.from({ length: 24 }, (_, i) => `t${i}`), limits: { concurrency: 16 } },
    );
    expect(episodes.map(({ output }) => output)).toEqual(episodes.map(({ task }) => task.id));
    expectAttributed(episodes, 24 * 3);
  });
});

describe("the answer of a command", () => {
  it("is the file that it wrote, where it wrote one", async () => {
    const { episode } = await runScript(
      `import { writeFileSync } from "node:fs";
       console.log("a log line");
       writeFileSync(process.env.AGENT_TRAINER_OUTPUT, "the answer\\n");`,
    );
    expect(episode.output).toBe("the answer");
  });

  it("can come from a shell", async () => {
    const { episode } = await runScript("", {
      command: 'printf "%s" "$OPENAI_MODEL" | tr a-z A-Z',
    });
    expect(episode.output).toBe("SCRIPTED");
  });
});

describe("a command that fails", () => {
  it.each<[string, string, Partial<CommandAgentOptions>, string]>([
    ["exit status", "process.exitCode = 3;", {}, "ended with exit status 3. Its last lines:\nbad"],
    ["signal", 'process.kill(process.pid, "SIGKILL");', {}, "was ended by SIGKILL"],
    [
      "output",
      'setInterval(() => process.stdout.write("x".repeat(50_000)), 1);',
      { maxOutputBytes: 200_000 },
      "output limit of 200000 bytes",
    ],
    ["no JSON", 'console.log("{");', { output: "json" }, "which is not JSON"],
  ])("with its %s is scored, with its calls", async (_, source, options, message) => {
    const { episode } = await runScript(
      `await ask("a first");\nconsole.error("bad");\n${source}`,
      options,
      { failures: { reward: -1, retriesAgent: false } },
    );
    expect(episode).toMatchObject({ terminationReason: "error", reward: -1, isCorrect: false });
    expect(episode.error).toMatchObject({ code: "AGENT_FAILED" });
    expect(episode.error!.message).toContain(message);
    expect(episode.error!.message).toContain("bad");
    expectAttributed([episode], 1);
  });

  it("with its time is stopped", async () => {
    const { episode } = await runScript("setInterval(() => {}, 1000);", { timeoutMs: 300 });
    expect(episode).toMatchObject({ terminationReason: "error", reward: 0 });
    expect(episode.error!.message).toContain("time limit of 300 ms");
  });

  it.runIf(isLinux)("with its memory is stopped", async () => {
    const { episode } = await runScript(
      "const held = []; setInterval(() => held.push(Buffer.alloc(2e7, 1)), 1);",
      { memoryMb: 300 },
    );
    expect(episode.error!.message).toContain("memory limit of 300 MiB");
  });

  it("does not tell the key of its session", async () => {
    const { episode } = await runScript(
      "console.error(process.env.OPENAI_API_KEY); process.exitCode = 1;",
    );
    expect(episode.error!.message).toContain("[redacted]");
  });

  it.each([["no-such-program-here"], ["no-such-program-here | cat; exit 127"]])(
    "because there is no %s is not the agent's fault",
    async (command) => {
      const { episode } = await runScript("", { command });
      expect(episode).toMatchObject({ reward: null, error: { code: "ROLLOUT_FAILED" } });
      expect(episode.error!.message).toContain("cannot be started");
    },
  );
});

/** Waits until the process is gone; a zombie that nobody collects counts as gone. */
async function expectGone(pid: number): Promise<void> {
  const isAlive = (): boolean => {
    try {
      return !/^State:\s+Z/mu.test(readFileSync(`/proc/${pid}/status`, "utf8"));
    } catch {
      return false;
    }
  };
  while (isAlive()) await sleep(20);
  expect(isAlive()).toBe(false);
}

describe.runIf(isLinux)("what a command started", () => {
  const folder = mkdtempSync(join(tmpdir(), "agents-pids-"));
  /** A child in the group, and one that left it and holds the pipes open. */
  const starts = (name: string): string => `
    import { spawn } from "node:child_process";
    import { writeFileSync } from "node:fs";
    const near = spawn("sleep", ["600"], { stdio: "inherit" });
    const far = spawn("sleep", ["600"], { stdio: "inherit", detached: true });
    far.unref(); near.unref();
    writeFileSync(${JSON.stringify(join(folder, name))}, near.pid + " " + far.pid);`;
  const started = (name: string): number[] =>
    readFileSync(join(folder, name), "utf8").split(" ").map(Number);

  it("ends with it, also outside of its process group", async () => {
    const { episode } = await runScript(`${starts("a")}\nconsole.log("done"); process.exit(0);`);
    expect(episode.output).toBe("done");
    for (const pid of started("a")) await expectGone(pid);
  });

  it.each([
    ["with the run", "b", 0],
    ["where the command ignores SIGTERM", "c", 100],
  ])("ends %s", async (_, name, graceMs) => {
    const stop = new AbortController();
    const run = runScript(
      `process.on("SIGTERM", () => {});${starts(name)}\nsetInterval(() => {}, 1000);`,
      { graceMs },
      { signal: stop.signal },
    ).catch((error: unknown) => error);
    while (!existsSync(join(folder, name)) || started(name).length < 2) await sleep(20);
    stop.abort(new Error("stopped"));
    await run;
    for (const pid of started(name)) await expectGone(pid);
  });

  it("ends at the rollout's deadline", async () => {
    const { episode } = await runScript(
      "setInterval(() => {}, 1000);",
      {},
      { limits: { timeoutMs: 400 } },
    );
    expect(episode.terminationReason).toBe("timeout");
  });
});
