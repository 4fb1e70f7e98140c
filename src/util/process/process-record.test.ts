import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { endRecorded, recordProcesses } from "./process-record.ts";
import { startProcess } from "./start-process.ts";

const folder = (): string => mkdtempSync(join(tmpdir(), "record-"));
const sleeper = (): ReturnType<typeof startProcess> =>
  startProcess({ argv: ["sleep", "600"], env: { PATH: process.env["PATH"] }, stdio: "ignore" });

it.skipIf(process.platform === "win32")(
  "ends what is recorded and alive, and no process that has its id only",
  async () => {
    const file = join(folder(), "processes.jsonl");
    const record = recordProcesses(file);
    const [mine, other] = [sleeper(), sleeper()];
    const lines = readFileSync(file, "utf8");
    const saved = join(folder(), "saved.jsonl");
    const { pid } = other.child;
    writeFileSync(
      saved,
      lines
        .split("\n")
        .map((line) =>
          // As if this id had been that of another process; nor has it the marks then.
          line.includes(`"pid":${pid},`)
            ? line.replace(/"start":"[^"]*"/u, '"start":"1"').replace(/[\da-f]{8}-/u, "00000000-")
            : line.replace(
                /"mark":"AGENT_TRAINER_GUARD=[\da-f]{8}/u,
                '"mark":"AGENT_TRAINER_GUARD=00000000',
              ),
        )
        .join("\n"),
    );
    const ended = once(mine.child, "exit");
    endRecorded(saved);
    expect(await ended).toEqual([null, "SIGKILL"]);
    expect(existsSync(saved)).toBe(false);
    expect([other.child.exitCode, other.child.signalCode]).toEqual([null, null]);
    record[Symbol.dispose]();
    expect(existsSync(file)).toBe(false);
    other.kill();
    await once(other.child, "exit");
  },
);

it("does nothing with a record of another machine, or one that is none", async () => {
  const child = spawn(process.execPath, ["-e", "process.stdin.resume()"]);
  await once(child, "spawn");
  const add = { id: 1, pid: child.pid, start: "1", mark: "PATH=/usr/bin", graceMs: 0 };
  const head = { table: "another machine", mark: `AGENT_TRAINER_GUARD=${crypto.randomUUID()}` };
  for (const text of [
    "",
    "null\nnull",
    "{",
    [head, { add }].map((line) => JSON.stringify(line)).join("\n"),
  ]) {
    const file = join(folder(), "processes.jsonl");
    writeFileSync(file, text);
    endRecorded(file);
    expect(existsSync(file)).toBe(false);
  }
  expect([child.exitCode, child.signalCode]).toEqual([null, null]);
  child.stdin.end();
  await once(child, "exit");
});

it("is the only place where processes are started", () => {
  const root = join(import.meta.dirname, "../..");
  const starting = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/u.test(name) && !name.endsWith(".test.ts"))
    .filter((name) => readFileSync(join(root, name), "utf8").includes("node:child_process"))
    .filter(
      (name) =>
        !/^import type .* from "node:child_process";$/mu.test(
          readFileSync(join(root, name), "utf8"),
        ),
    )
    .filter((name) => !name.startsWith(join("util", "process")));
  expect(starting).toEqual([]);
});
