/** `agent-trainer doctor reward` as a person and as a program meet it. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runCli } from "../../src/cli/program.ts";

const folder = mkdtempSync(join(tmpdir(), "agent-trainer-doctor-"));
const rows = [7, 12, 30].map((answer) =>
  JSON.stringify({ question: `What is ${answer} times one?`, answer: String(answer) }),
);
const files = {
  "train.jsonl": `${rows.join("\n")}\n`,
  "sound.mjs":
    "export const evaluator = (task, { output }) => String(output).trim() === task.metadata.answer;\n",
  // Every text contains the empty one.
  "careless.mjs":
    "export const evaluator = (task, { output }) => task.metadata.answer.includes(String(output).trim());\n",
  "run.yaml":
    "model: { name: m }\nagent: agent.mjs\nevaluator: sound.mjs\ndataset: { train: train.jsonl }\n",
};
for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);

async function doctor(...more: readonly string[]) {
  let out = "";
  let err = "";
  const code = await runCli(["doctor", "reward", join(folder, "run.yaml"), ...more], {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
  });
  return { code, out, err };
}

it("finds nothing wrong with a sound evaluator", async () => {
  const { code, out } = await doctor();
  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining("No faults found.") });
  expect(out).toContain("reference answer: answer");
});

it("names the fault of a careless one, with the output that showed it, and exits with 1", async () => {
  const careless = ["--evaluator", `${join(folder, "careless.mjs")}#evaluator`];
  const { code, out } = await doctor(...careless);
  expect(code).toBe(1);
  expect(out).toContain("pays for an empty output");
  const { out: json } = await doctor(...careless, "--json");
  const report = JSON.parse(json.trimEnd().split("\n").at(-1)!) as {
    findings: { fault: string }[];
  };
  expect(report.findings.map(({ fault }) => fault)).toContain("pays_empty");
});

it("says which evaluator cannot be loaded", async () => {
  const { code, err } = await doctor("--evaluator", "nowhere.mjs#evaluator");
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("nowhere.mjs") });
});
