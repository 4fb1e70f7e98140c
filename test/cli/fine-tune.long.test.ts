/** `agent-trainer sft`, `dpo` and `kto` as commands: help, preview, results, and what bad rows get. */
import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runCli } from "../../src/cli/program.ts";
import type { TrainSeedsResult } from "../../src/launch/seeds/train-seeds.ts";
import { shopConversations, shopPairs } from "../finetune/trl-examples.ts";

const folder = mkdtempSync(join(tmpdir(), "fine-tune-cli-"));
const write = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const lines = (rows: readonly object[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join("");
const config = write(
  "shop.yaml",
  `model: { name: "builtin:shop-tiny" }
data: { train_batch_size: 2 }
trainer: { total_batches: 1, output_dir: ${JSON.stringify(join(folder, "runs"))} }
`,
);

async function run(...args: string[]) {
  let [out, err] = ["", ""];
  const code = await runCli(args, {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
  });
  return { code, out, err };
}

it.each(["sft", "dpo", "kto"])("%s explains itself with examples", async (command) => {
  const { code, out } = await run(command, "--help");
  expect(code).toBe(0);
  expect(out).toContain(`$ agent-trainer ${command} shop.yaml --train`);
});

it("shows what is trained on, in brackets without a terminal", async () => {
  const train = write("preview.jsonl", lines(shopConversations("preview", 2)));
  const { code, out } = await run("sft", config, "--train", train, "--preview", "1");
  expect(code).toBe(0);
  expect(out).toContain(`${train}:1  `);
  expect(out).toMatch(/assistant\n⟦<tool_call>[^⟧]*get_price[^⟧]*<\|im_end\|>⟧/u);
  expect(out).toContain("2 examples to train on, 0 held out");
});

it("trains, and reports as JSON", async () => {
  const train = write("pairs.jsonl", lines(shopPairs("cli", 2)));
  const { code, out, err } = await run("dpo", config, "--train", train, "--json", "--quiet");
  expect(code, err).toBe(0);
  const result = JSON.parse(out) as Record<string, unknown>;
  expect(result).toMatchObject({
    status: "completed",
    steps: 1,
    totalSteps: 1,
    stoppedEarly: false,
    examples: { train: 2, val: 0 },
  });
  expect((result["metrics"] as Record<string, number>)["train/loss"]).toBeCloseTo(Math.log(2), 5);
});

it("names the file and the line of a bad row, with exit status 2", async () => {
  const train = write("bad.jsonl", `${lines(shopConversations("bad", 1))}{"messages": 3}\n`);
  const { code, out, err } = await run("sft", config, "--train", train);
  expect(code).toBe(2);
  expect(out).toBe("");
  expect(err).toContain(`${train}:2: messages must be a list`);
  expect(err).toContain("fine_tuning.skip_bad_rows=true");
});

it.each([
  [
    ["sft", config, "--train", join(folder, "nowhere.jsonl")],
    /fine_tuning\.train names .*nowhere\.jsonl, which does not exist/u,
  ],
  [
    ["dpo", config, "--train", join(folder, "pairs.docx")],
    /fine_tuning\.train names .*pairs\.docx/u,
  ],
  [["sft", config, "--from-run", folder], /holds no recorded episodes/u],
  [["dpo", config], /no examples to fine-tune on/u],
  [
    ["train", config, "dataset.train=nowhere.jsonl"],
    /dataset\.train names .*nowhere\.jsonl, which does not exist/u,
  ],
  [["train", config, "dataset.val=hf:x"], /not the name of a dataset on a hub/u],
  [["train", config, "agent=nowhere.ts#agent"], /agent names .*nowhere\.ts, which does not exist/u],
] as const)("%j with --dry-run looks for files", async (args, message) => {
  const { code, out, err } = await run(...args, "--dry-run");
  expect(err).toMatch(message);
  expect([code, out]).toEqual([2, ""]);
});

it("--dry-run prints the options, and reads no rows", async () => {
  const train = write("unread.jsonl", "not JSON\n");
  const { code, out, err } = await run("sft", config, "--train", train, "--dry-run");
  expect([code, err]).toEqual([0, ""]);
  expect(out).toMatch(/train: .*unread\.jsonl +# override/u);
  const json = await run("sft", config, "--train", train, "--dry-run", "--json");
  expect(JSON.parse(json.out)).toMatchObject({ config: { fine_tuning: { train } } });
  expect(JSON.parse(json.out), "that of rollouts").not.toHaveProperty("estimate");
});

it("repeats a run with several seeds", async () => {
  const train = write("seeds.jsonl", lines(shopConversations("seeds", 4)));
  const args = ["sft", config, "--train", train, "--val", train, "--seeds", "2"];
  const named = [...args, "trainer.experiment_name=of-seeds"];
  const { code, out, err } = await run(...named, "--quiet");
  expect(code, err).toBe(0);
  expect(out).toMatch(/completed: 2 of 2 runs done/u);
  expect(out).toMatch(/2\/2\s+\d\.\d{3}/u);
  expect(readdirSync(join(folder, "runs", "of-seeds-seeds")).sort()).toEqual(
    expect.arrayContaining(["seed=0", "seed=1"]),
  );
  expect((await run(...named, "--resume", "--allow-changes")).err).toContain("cannot be combined");
});

it("compares seeds by the loss where there are no rewards, and checks the examples first", async () => {
  const train = write("pairs.jsonl", lines(shopPairs("pairs", 2)));
  const options = ["trainer.total_batches=2", "training.learning_rate=1.0e-12"];
  const args = ["dpo", config, ...options, "--seeds", "2"];
  const named = [...args, "trainer.experiment_name=of-pairs", "--json", "--quiet"];
  const none = await run(...named);
  expect(none.code).toBe(2);
  expect(none.err).toContain("fine_tuning.train");
  const { code, out, err } = await run(...named, "--train", train);
  expect(code, err).toBe(0);
  const { metric, runs, result } = JSON.parse(out) as TrainSeedsResult;
  expect(metric).toBe("train/loss");
  // A policy that has not moved is its reference.
  for (const { value } of runs) expect(value).toBeCloseTo(Math.log(2), 4);
  expect(result!.mean).toBeCloseTo(Math.log(2), 4);
});
