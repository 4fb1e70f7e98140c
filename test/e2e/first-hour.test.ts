/**
 * The path of docs/first-hour.md with the small model as a folder: it only shows that the stages fit together.
 * test/integration/first-hour/ follows the page itself, with a real model.
 */
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, afterAll, expect, it } from "vitest";
import { root } from "../docs/pages.ts";
import { linkPackages } from "../link-packages.ts";
import { cli, temporaryFolder } from "./cli-process.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let project: string;

async function run(...args: string[]): Promise<{ stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await cli(args, { cwd: project });
  expect(code, `${args.join(" ")}\n${stderr}`).toBe(0);
  return { stdout, stderr };
}

beforeAll(async () => {
  folder = await temporaryFolder();
  linkPackages(folder.path);
  cpSync(join(root, "models/shop-tiny"), join(folder.path, "tiny"), { recursive: true });
  project = join(folder.path, "shop");
  await cli(["init", "shop", "--model", "tiny"], { cwd: folder.path });
});
afterAll(async () => folder[Symbol.asyncDispose]());

it("shows demonstrations, trains from there, evaluates, talks as the agent and exports", async () => {
  const short = ["trainer.total_batches=2"];
  const shown = await run("sft", "sft.yaml", ...short);
  expect(shown.stderr).toMatch(/^saved .*runs\/sft\/checkpoints\/000002$/mu);
  const trained = await run("train", "train.yaml", "model.name=runs/sft", ...short);
  expect(trained.stderr).toMatch(/^validation after step 2: /mu);

  await run("eval", "train.yaml", "--output", "evals/before");
  await run("eval", "train.yaml", "--model", "runs/rl", "--output", "evals/after");
  const compared = await run("compare", "evals/before", "evals/after");
  expect(compared.stdout).toContain("reward");

  await run("model", "export", "runs/rl", "--format", "hf", "--into", "shop-model");
  const config = JSON.parse(
    readFileSync(join(project, "shop-model/config.json"), "utf8"),
  ) as object;
  expect(config).toHaveProperty("architectures");
});

it("shows the agent's response, through a pipe", async () => {
  const args = ["chat", "runs/rl", "--agent", "train.yaml", "--json"];
  const { code, stdout, stderr } = await cli(args, {
    cwd: project,
    input: "How much do 2 coats cost?\n",
  });
  expect(code, stderr).toBe(0);
  expect(stderr).toContain("loading runs/rl ...");
  expect(JSON.parse(stdout)).toEqual({
    request: "How much do 2 coats cost?",
    response: expect.any(String),
  });
});
