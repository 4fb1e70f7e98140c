/** `doctor agreement`: an evaluator, or a model with a page of text, against thumbs. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { runCli } from "../../src/cli/program.ts";

const folder = mkdtempSync(join(tmpdir(), "agreement-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** 40 answers; of every five good ones one has a bad thumb. */
beforeAll(() => {
  const rows = Array.from({ length: 40 }, (_, i) => ({
    prompt: [{ role: "user", content: `question ${i}` }],
    completion: [{ role: "assistant", content: i % 2 === 0 ? "good answer" : "bad answer" }],
    label: i % 2 === 0 && i % 10 !== 0,
  }));
  writeFileSync(
    join(folder, "feedback.jsonl"),
    rows.map((row) => `${JSON.stringify(row)}\n`).join(""),
  );
  writeFileSync(
    join(folder, "judge.mjs"),
    'export const evaluator = (task, { output }) => { if (task.instruction.endsWith(" 7")) throw new Error("odd"); return output.startsWith("good"); };',
  );
  writeFileSync(join(folder, "rubric.md"), "10: is good. 0: is bad.");
});

async function agreement(flags: readonly string[]) {
  let [out, err] = ["", ""];
  const status = await runCli(["doctor", "agreement", folder, "--json", ...flags], {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
  });
  return { status, err, report: out === "" ? null : (JSON.parse(out) as unknown) };
}

it("compares an evaluator with thumbs, and refuses below a kappa", async () => {
  const evaluator = ["--evaluator", join(folder, "judge.mjs")];
  const found = await agreement(evaluator);
  // 16 good both, 4 only the reward, 20 bad both of which one failed.
  const wanted = { rated: 40, n: 39, failed: 1, bothGood: 16, rewardOnly: 4, bothBad: 19 };
  expect(found, found.err).toMatchObject({ status: 0, report: { ...wanted, thumbOnly: 0 } });
  const chance = (20 / 39) * (16 / 39) + (19 / 39) * (23 / 39);
  expect(found.report).toMatchObject({
    accuracy: 35 / 39,
    kappa: expect.closeTo((35 / 39 - chance) / (1 - chance), 12) as number,
    error: expect.stringContaining("odd") as string,
    cost: { scores: 1000, calls: null, usd: null },
  });
  expect((await agreement([...evaluator, "--min-kappa", "0.7"])).status).toBe(0);
  expect((await agreement([...evaluator, "--min-kappa", "0.9"])).status).toBe(1);
  const counts = (report: unknown) => ({ ...(report as object), cost: null, meanMs: null });
  const [some, again] = [
    await agreement([...evaluator, "--sample", "10"]),
    await agreement([...evaluator, "--sample", "10"]),
  ];
  expect(counts(some.report)).toEqual(counts(again.report));
  expect(some.report).toMatchObject({ rated: 40 });
});

it("asks a model with a page of text, and tells what it will cost", async () => {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part: Buffer) => (body += String(part)));
    request.on("end", () => {
      expect(body).toContain("10: is good. 0: is bad.");
      const content = JSON.stringify({ reason: "", score: body.includes("good answer") ? 9 : 1 });
      const usage = { prompt_tokens: 100, completion_tokens: 10 };
      response.end(JSON.stringify({ choices: [{ message: { content } }], usage }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const { report, status, err } = await agreement([
    ...["--rubric", join(folder, "rubric.md"), "--scores", "2000", "--sample", "20"],
    ...["--model", `http://127.0.0.1:${port}/v1`, "--model-name", "judge"],
    ...["--usd-prompt", "1", "--usd-sampled", "10"],
  ]);
  expect(status, err).toBe(0);
  expect(report).toMatchObject({
    n: 20,
    failed: 0,
    thumbOnly: 0,
    cost: { scores: 2000, calls: 2000, promptTokens: 200_000, completionTokens: 20_000, usd: 0.4 },
  });
});

it("refuses two judges, none, and half of one", async () => {
  const rubric = ["--rubric", join(folder, "rubric.md")];
  for (const flags of [[], rubric, [...rubric, "--evaluator", "x.ts"], ["--model-name", "x"]])
    expect((await agreement(flags)).status).toBe(2);
});
