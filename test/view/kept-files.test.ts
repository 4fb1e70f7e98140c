/** What a run keeps for the viewer, written and read back, also where files are damaged. */
import { appendFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { TokenRecord } from "../../src/core/token-record.ts";
import {
  cutExchanges,
  ExchangeLog,
  type ExchangeLogOptions,
  exchangeFile,
} from "../../src/runs/exchange-log.ts";
import { callHttp } from "../../src/view/episode/exchange.ts";
import { readTrainedTokens } from "../../src/view/episode/token-records.ts";
import { madeEpisode, newRunFolder } from "./view-run.ts";

const record = (trace: string, step: number, fields: Partial<TokenRecord> = {}): string =>
  `${JSON.stringify({
    episode: "1/a/0",
    trace,
    step,
    temperature: 1,
    mask: [1, 1],
    logprobs: [-0.5, -1],
    reference: null,
    entropy: null,
    advantages: [0.5, 0.5],
    weights: null,
    ...fields,
  })}\n`;

function withTokens(files: Readonly<Record<string, string>>): string {
  const folder = newRunFolder();
  mkdirSync(join(folder, "tokens"));
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(folder, "tokens", name), text);
  return folder;
}

it("finds the tokens of a call in its step, or in a later one that trained on it", () => {
  const folder = withTokens({
    "000001.jsonl": record("t", 1),
    "000002.jsonl": record("late", 2),
  });
  const find = (trace: string, step = 1) =>
    readTrainedTokens(folder, { episode: "1/a/0", trace, step, tokens: 2 });
  expect(find("t")).toMatchObject({ step: 1, logprobs: [-0.5, -1] });
  expect(find("late")).toMatchObject({ step: 2 });
  expect(find("t", 2)).toBeNull();
  expect(find("other")).toBeNull();
  const wanted = { episode: "1/a/0", trace: "t", step: 1, tokens: 2 };
  expect(readTrainedTokens(newRunFolder(), wanted)).toBeNull();
});

it("shows nothing of a record that is damaged or of another length", () => {
  const bad: readonly Partial<Record<keyof TokenRecord, unknown>>[] = [
    { mask: [1] },
    { logprobs: ["a", "b"] },
    { entropy: [1] },
    { step: "1" },
  ];
  for (const fields of bad) {
    const folder = withTokens({ "000001.jsonl": record("t", 1, fields as Partial<TokenRecord>) });
    const wanted = { episode: "1/a/0", trace: "t", step: 1, tokens: 2 };
    expect(readTrainedTokens(folder, wanted), JSON.stringify(fields)).toBeNull();
  }
  const cut = withTokens({ "000001.jsonl": `${record("t", 1).slice(0, 60)}\n` });
  const wanted = { episode: "1/a/0", trace: "t", step: 1, tokens: 2 };
  expect(readTrainedTokens(cut, wanted)).toBeNull();
});

const exchange = (session: string, response: string, text: string) => ({
  session,
  response,
  path: "/v1/chat/completions",
  headers: {},
  request: { text, length: text.length },
  reply: { text: "{}", length: 2 },
});

const logOf = (run: string, options: Partial<ExchangeLogOptions> = {}): ExchangeLog =>
  new ExchangeLog({
    run,
    kilobytes: 4,
    compression: "none",
    checkpoint: -1,
    warn: () => undefined,
    ...options,
  });

it("writes bodies in the background, and finds those of a call among all", async () => {
  const run = newRunFolder();
  const warnings: string[] = [];
  {
    await using log = logOf(run, { warn: (message) => warnings.push(message) });
    expect(log.listener!.limit).toBe(4096);
    for (let i = 0; i < 500; i++) log.listener!.take(exchange(`s${i % 50}`, `r${i}`, `body ${i}`));
    log.listener!.take(exchange("s", "response", "the one"));
  }
  expect(readdirSync(join(run, "http")).length).toBeGreaterThan(10);
  appendFileSync(exchangeFile(run, "s", "none"), '{"cut');
  const episode = madeEpisode({ id: "1/a/0", responses: ["x"] });
  expect(callHttp(run, episode, 0)!.bodies!.request.text).toBe("the one");
  expect(callHttp(run, episode, 1)).toBeNull();
  expect(warnings).toEqual([]);
});

it("warns once where bodies cannot be written, and keeps nothing by default", async () => {
  const run = newRunFolder();
  const warnings: string[] = [];
  {
    await using log = logOf(run, { warn: (message) => warnings.push(message) });
    rmSync(join(run, "http"), { recursive: true });
    log.listener!.take(exchange("a", "r", "x"));
    log.listener!.take(exchange("b", "r", "x"));
  }
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatch(/record\.http_body_kb.*ENOENT/u);
  await using off = logOf(newRunFolder(), { kilobytes: 0 });
  expect(off.listener).toBeUndefined();
});

it.each(["none", "gzip"] as const)(
  "cuts bodies to a checkpoint, with compression %s, also behind what a kill cut short",
  async (compression) => {
    const run = newRunFolder();
    const episode = (responseId: string) => {
      const made = madeEpisode({ id: "1/a/0", responses: ["x"] });
      const [trajectory] = made.trajectories;
      const [step] = trajectory!.steps;
      const trace = { ...step!.trace, sessionUid: "s", responseId };
      return { ...made, trajectories: [{ ...trajectory!, steps: [{ ...step!, trace }] }] };
    };
    const isFound = (response: string): boolean =>
      callHttp(run, episode(response), 0)!.bodies !== null;
    {
      await using log = logOf(run, { compression });
      log.listener!.take(exchange("s", "step 1", "a"));
      log.checkpoint = 1;
      log.listener!.take(exchange("s", "step 2", "b"));
      log.checkpoint = 2;
      log.listener!.take(exchange("s", "step 3", "c"));
    }
    appendFileSync(exchangeFile(run, "s", compression), Buffer.from([0x1f, 0x8b, 8, 4, 0]));
    expect(["step 1", "step 2", "step 3"].map(isFound)).toEqual([true, true, true]);
    cutExchanges(run, 2);
    {
      await using log = logOf(run, { compression, checkpoint: 2 });
      log.listener!.take(exchange("s", "again", "d"));
    }
    const names = ["step 1", "step 2", "step 3", "again"];
    expect(names.map(isFound)).toEqual([true, true, false, true]);
    cutExchanges(run, -1);
    expect(names.map(isFound)).toEqual([false, false, false, false]);
  },
);
