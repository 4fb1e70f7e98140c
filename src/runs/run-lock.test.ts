import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { lockRun } from "./run-lock.ts";

const newFolder = (): string => mkdtempSync(join(tmpdir(), "agent-trainer-lock-"));

function writeLock(folder: string, record: Record<string, unknown>): void {
  writeFileSync(join(folder, "run.lock"), JSON.stringify({ token: "old", ...record }));
}

describe("lockRun", () => {
  it("holds a folder until it is given back", () => {
    const folder = newFolder();
    const unlock = lockRun(folder);
    expect(() => lockRun(folder)).toThrow(`in use by process ${process.pid}`);
    unlock();
    expect(readdirSync(folder)).toEqual([]);
    lockRun(folder)();
  });
  it("takes over the lock of a dead process", () => {
    const folder = newFolder();
    const { pid } = spawnSync(process.execPath, ["-e", ""]);
    writeLock(folder, { pid, host: hostname(), processStart: 0 });
    lockRun(folder)();
    expect(existsSync(join(folder, "run.lock"))).toBe(false);
  });
  it("takes over the lock of a dead process that had the same pid", () => {
    const folder = newFolder();
    writeLock(folder, { pid: process.pid, host: hostname(), processStart: 1 });
    lockRun(folder);
    expect(readFileSync(join(folder, "run.lock"), "utf8")).not.toContain('"old"');
  });
  it("leaves a folder of that name alone, and says what to do", () => {
    const folder = newFolder();
    mkdirSync(join(folder, "run.lock"));
    writeFileSync(join(folder, "run.lock", "mine"), "");
    const path = join(folder, "run.lock");
    expect(() => lockRun(folder)).toThrow(`${path} is a folder, but it must be the file`);
    expect(readdirSync(folder)).toEqual(["run.lock"]);
    expect(readdirSync(path)).toEqual(["mine"]);
  });
  it("takes over a lock that a crash left empty", () => {
    const folder = newFolder();
    writeFileSync(join(folder, "run.lock"), "");
    expect(() => lockRun(folder)).not.toThrow();
  });
  it.each([
    ["a live process", { pid: process.ppid, host: hostname(), processStart: 0 }],
    ["a process on another machine", { pid: 1, host: "elsewhere", processStart: 0 }],
  ])("respects the lock of %s", (_, record) => {
    const folder = newFolder();
    writeLock(folder, record);
    expect(() => lockRun(folder)).toThrow(expect.objectContaining({ code: "RUN_LOCKED" }));
    expect(readdirSync(folder)).toEqual(["run.lock"]);
  });
  it("does not take away a lock that somebody else holds by now", () => {
    const folder = newFolder();
    const unlock = lockRun(folder);
    writeLock(folder, { pid: process.ppid, host: hostname(), processStart: 0 });
    unlock();
    expect(readFileSync(join(folder, "run.lock"), "utf8")).toContain('"old"');
  });
});
