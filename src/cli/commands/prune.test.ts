import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runCli } from "../program.ts";
import { pruneCommand, type PruneFlags } from "./prune.ts";

const own = `${process.platform}/${process.arch}`;
const others = ["aix/ppc64", "sunos/x64"];

/** An installed onnxruntime-node with 1,000 bytes for each of `systems`. */
function installation(systems: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), "agent-trainer-prune-"));
  const at = (system: string): string => join(folder, "bin", "napi-v6", system);
  for (const system of systems) {
    mkdirSync(at(system), { recursive: true });
    writeFileSync(join(at(system), "binding.node"), "x".repeat(1000));
  }
  return { folder, left: () => systems.filter((system) => existsSync(at(system))) };
}

function prune(folder: string, flags: PruneFlags) {
  let [out, err] = ["", ""];
  const io = {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
  };
  return { code: pruneCommand(flags, io, folder), out, err };
}

it("deletes the binaries of other systems, once, and says how much", () => {
  const { folder, left } = installation([own, ...others]);
  const planned = prune(folder, { dryRun: true });
  expect(planned.out).toContain("would delete 2.00 kB of");
  expect(left()).toHaveLength(3);
  const { code, out } = prune(folder, { yes: true });
  expect([code, left()]).toEqual([0, [own]]);
  expect(out).toMatch(/^deleted {2}aix\/ppc64 +1\.00 kB$/mu);
  expect(prune(folder, { yes: true }).out).toContain("Nothing to delete");
});

it("prints one JSON object with --json", () => {
  const { folder } = installation([own, ...others]);
  const { bytes, binaries } = JSON.parse(prune(folder, { yes: true, json: true }).out) as {
    bytes: number;
    binaries: readonly { system: string }[];
  };
  expect([bytes, binaries.map(({ system }) => system)]).toEqual([2000, others]);
});

it("deletes nothing without --yes, nor where this system has no binaries", () => {
  const { folder, left } = installation([own, ...others]);
  expect(() => prune(folder, {})).toThrow("needs --yes");
  expect(left()).toHaveLength(3);
  const foreign = installation(others);
  expect(() => prune(foreign.folder, { yes: true })).toThrow("has no binaries for this system");
  expect(foreign.left()).toEqual(others);
});

it("has examples in --help, and is refused through the command line without --yes", async () => {
  let [out, err] = ["", ""];
  const io = {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
  };
  expect(await runCli(["prune", "--help"], io)).toBe(0);
  expect(out).toContain("$ agent-trainer prune --dry-run");
  expect(await runCli(["prune"], io)).toBe(2);
  expect(err).toContain("needs --yes");
});
