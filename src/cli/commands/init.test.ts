import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runCli } from "../program.ts";

const empty = (): string => mkdtempSync(join(tmpdir(), "agent-trainer-init-"));

async function run(...args: string[]) {
  let [out, err] = ["", ""];
  const code = await runCli(["init", ...args], {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
  });
  return { code, out, err };
}

it("says of each file whether it was created or kept, and what to do next", async () => {
  const folder = empty();
  const first = await run(folder, "--framework", "fetch");
  expect([first.code, first.err]).toEqual([0, ""]);
  expect(first.out).toMatch(/^created {2}agent\.ts$/mu);
  expect(first.out).toContain("Next:\n  cd ");
  const second = await run(folder, "--framework", "fetch");
  expect(second.out).toMatch(/^kept {2}agent\.ts$/mu);
  expect(second.out).not.toContain("created");
});

it("writes nothing with --dry-run, and one JSON object with --json", async () => {
  const folder = empty();
  const { out } = await run(folder, "--dry-run");
  expect(out).toMatch(/^would create {2}agent\.ts$/mu);
  expect(out).not.toContain("Next:");
  const asJson = await run(folder, "--framework", "mastra", "--dry-run", "--json");
  expect(asJson.err).toBe("");
  const result = JSON.parse(asJson.out) as { notes: string[] };
  expect(result).toMatchObject({ folder, framework: "mastra", files: expect.any(Array) });
  expect(result.notes[0]).toContain("needs Node 22.13.0");
  expect(readdirSync(folder)).toEqual([]);
});

it("notes which Node a framework needs, on stderr", async () => {
  const { err, out } = await run(empty(), "--framework", "mastra");
  expect(err).toMatch(/^note: Mastra \(@mastra\/core\) needs Node 22\.13\.0 or later/u);
  expect(out).not.toContain("note:");
});

it("ends with 2 for an unknown framework, with the nearest name", async () => {
  const { code, out, err } = await run(empty(), "--framework", "opena");
  expect([code, out]).toEqual([2, ""]);
  expect(err).toContain('There is no framework "opena". Did you mean openai?');
  expect(err).toContain("Frameworks: openai, ai-sdk");
});

it("names models where --model has no name, and there is no terminal to ask on", async () => {
  const folder = empty();
  const { code, out, err } = await run(folder, "--model");
  expect([code, out, readdirSync(folder)]).toEqual([2, "", []]);
  expect(err).toContain("there is no terminal to ask for it");
  expect(err).toContain("--model HuggingFaceTB/SmolLM2-135M-Instruct");
});

it("has examples in --help", async () => {
  const { code, out } = await run("--help");
  expect(code).toBe(0);
  expect(out).toContain("Examples:\n  $ agent-trainer init shop\n");
});
