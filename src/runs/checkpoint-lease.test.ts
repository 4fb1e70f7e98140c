import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { holdCheckpoint, isHeld } from "./checkpoint-lease.ts";
import { listCheckpoints, pruneCheckpoints } from "./checkpoint.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "lease-"));
  for (const step of [1, 2, 3, 4]) mkdirSync(pathOf(step));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const pathOf = (step: number): string => join(root, `00000${step}`);

it("keeps what is in use until it is released", async () => {
  const release = holdCheckpoint(pathOf(1));
  const again = holdCheckpoint(pathOf(1));
  await pruneCheckpoints(root, 1, 3);
  expect(await listCheckpoints(root)).toEqual([4, 3, 1]);
  release();
  await pruneCheckpoints(root, 1, 3);
  expect(await listCheckpoints(root)).toEqual([4, 3, 1]);
  again();
  await pruneCheckpoints(root, 1, 3);
  expect(await listCheckpoints(root)).toEqual([4, 3]);
});

it("keeps what a file names, whichever process lives", async () => {
  const state = join(root, "handed-over.json");
  writeFileSync(state, JSON.stringify({ model: pathOf(2) }));
  holdCheckpoint(pathOf(2), state);
  holdCheckpoint(pathOf(1), state);
  await pruneCheckpoints(root, 1, null);
  expect(await listCheckpoints(root)).toEqual([4, 2]);
  writeFileSync(state, "{}");
  await pruneCheckpoints(root, 1, null);
  expect(await listCheckpoints(root)).toEqual([4]);
});

it("forgets users that have ended, and files that cannot be read", () => {
  const folder = join(root, ".in-use");
  mkdirSync(folder);
  const gone = {
    pid: process.pid,
    host: hostname(),
    processStart: 1,
    token: "t",
    checkpoint: pathOf(1),
  };
  writeFileSync(join(folder, "000001-t.json"), JSON.stringify(gone));
  writeFileSync(join(folder, "000002-u.json"), "{");
  expect([isHeld(pathOf(1)), isHeld(pathOf(2)), isHeld(pathOf(3))]).toEqual([false, false, false]);
  expect(readdirSync(folder)).toEqual(["000002-u.json"]);
});
