/**
 * However a trainer is killed, no agent and no server that it started stays. `SOAK=1` kills it 100 times
 * at random moments.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { createRandom } from "../../../src/util/random.ts";
import { bundleProgram } from "../../bundle-program.ts";
import type { AgentsRun } from "./agents-child.ts";
import { newCrashFolder } from "./crash-runs.ts";

const script = join(import.meta.dirname, "stubborn.sh");
const kills = process.env["SOAK"] === "1" ? 100 : 4;
const limitMs = 60_000;
/** Rollouts at a time, and servers, with two processes or more each that sleep. */
const started = 4 + 3;

let program = "";
beforeAll(async () => {
  program = await bundleProgram(join(import.meta.dirname, "agents-child.ts"));
});

interface Listed {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** All processes but those that have ended and are not reaped yet. */
async function processes(): Promise<readonly Listed[]> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,ppid=,stat=,args="], {
    maxBuffer: 2 ** 26,
  });
  return stdout.split("\n").flatMap((line) => {
    const found = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/u.exec(line);
    if (found === null || found[3]!.startsWith("Z")) return [];
    return [{ pid: Number(found[1]), parent: Number(found[2]), command: found[4]! }];
  });
}

const having = async (token: string): Promise<readonly Listed[]> =>
  (await processes()).filter(({ command }) => command.includes(token));

/** Polls until `isSo`, which it must become in time; returns what it was last. */
async function until<T>(read: () => Promise<T>, isSo: (value: T) => boolean): Promise<T> {
  for (const end = performance.now() + limitMs; ;) {
    const value = await read();
    if (isSo(value) || performance.now() > end) return value;
    await sleep(50);
  }
}

/** A number that no other process sleeps for. */
const newToken = (): string => `8${String(Math.random()).slice(2, 14).padEnd(12, "0")}`;

const tokens: string[] = [];
afterEach(async () => {
  for (const token of tokens.splice(0)) {
    for (const { pid } of await having(token)) process.kill(pid, "SIGKILL");
  }
});

interface Training {
  readonly child: ChildProcess;
  readonly token: string;
  readonly output: () => string;
}

async function start(more: Partial<AgentsRun> = {}): Promise<Training> {
  const token = newToken();
  tokens.push(token);
  const run: AgentsRun = { outputDir: newCrashFolder(), token, script, interrupts: false, ...more };
  const child = spawn(process.execPath, [program, JSON.stringify(run)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  await until(
    async () => output,
    (text) => text.includes("started\n") || child.exitCode !== null,
  );
  expect(output).toContain("started\n");
  return { child, token, output: () => output };
}

/** Until every agent and server has started, with what it starts itself. */
async function whole({ token }: Training): Promise<void> {
  const isWhole = (all: readonly Listed[]): boolean =>
    all.filter(({ command }) => command.startsWith("sleep")).length >= started * 2;
  expect(isWhole(await until(() => having(token), isWhole))).toBe(true);
}

async function kill({ child }: Training, signal: NodeJS.Signals): Promise<void> {
  const ended = once(child, "exit");
  child.kill(signal);
  expect(await ended).toEqual([null, signal]);
}

async function expectNoneLeft(token: string): Promise<void> {
  expect(
    await until(
      () => having(token),
      (left) => left.length === 0,
    ),
  ).toEqual([]);
}

const guardOf = async ({ child }: Training): Promise<Listed | undefined> =>
  (await processes()).find(
    ({ parent, command }) => parent === child.pid && command.includes("guard-main"),
  );

describe.skipIf(process.platform === "win32")("of agents and servers that ignore signals", () => {
  it.each(["SIGKILL", "SIGHUP", "SIGQUIT", "SIGTERM", "SIGABRT"] as const)(
    "none stays after %s",
    async (signal) => {
      const training = await start();
      await whole(training);
      await kill(training, signal);
      await expectNoneLeft(training.token);
    },
    3 * limitMs,
  );

  it(
    "none stays after a second SIGTERM, while the run waits for them",
    async () => {
      const training = await start({ interrupts: true });
      await whole(training);
      training.child.kill("SIGTERM");
      await until(
        async () => training.output(),
        (text) => text.includes("stopping"),
      );
      await kill(training, "SIGTERM");
      await expectNoneLeft(training.token);
    },
    3 * limitMs,
  );

  it(
    `none stays after ${kills} kills at random moments of their start`,
    async () => {
      const random = createRandom(7);
      const signals = ["SIGKILL", "SIGHUP", "SIGQUIT", "SIGTERM"] as const;
      for (let i = 0; i < kills; i++) {
        const training = await start();
        await sleep(random() * 400);
        await kill(training, signals[i % signals.length]!);
        await expectNoneLeft(training.token);
      }
    },
    kills * limitMs,
  );

  it(
    "none stays where their guard was killed before",
    async () => {
      const training = await start();
      await whole(training);
      const first = await until(
        () => guardOf(training),
        (guard) => guard !== undefined,
      );
      process.kill(first!.pid, "SIGKILL");
      const isAnother = (guard?: Listed): boolean =>
        guard !== undefined && guard.pid !== first!.pid;
      expect(isAnother(await until(() => guardOf(training), isAnother))).toBe(true);
      await kill(training, "SIGKILL");
      await expectNoneLeft(training.token);
    },
    3 * limitMs,
  );

  it(
    "a run that is resumed ends those that it left when its guard was killed with it",
    async () => {
      const outputDir = newCrashFolder();
      const training = await start({ outputDir });
      await whole(training);
      const guard = await until(
        () => guardOf(training),
        (found) => found !== undefined,
      );
      // Stopped first: a guard that ends is started again.
      process.kill(guard!.pid, "SIGSTOP");
      await kill(training, "SIGKILL");
      process.kill(guard!.pid, "SIGKILL");
      expect((await having(training.token)).length).toBeGreaterThanOrEqual(started * 2);
      const again = await start({ outputDir });
      await expectNoneLeft(training.token);
      await kill(again, "SIGKILL");
      await expectNoneLeft(again.token);
    },
    3 * limitMs,
  );
});
