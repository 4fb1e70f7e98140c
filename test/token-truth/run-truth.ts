/**
 * Token truth under random conversations, over real tokenizers: the gateway's own conversation, prompt
 * and capture code, then the rollout's and the trainer's way to rows. Without HTTP, for numbers;
 * `http.test.ts` does the same through requests. `SOAK=1` runs a million (`SOAK_MINUTES` at most).
 */
import { expect } from "vitest";
import { CallAbort } from "../../src/gateway/call/call-abort.ts";
import { createRandom, deriveSeed } from "../../src/util/random.ts";
import { checkSession, noTotals, type Totals } from "./check-session.ts";
import { converse } from "./random-client.ts";
import { randomSampler } from "./random-choice.ts";
import type { TruthModel } from "./truth-models.ts";
import { openTruthSession } from "./truth-session.ts";

const soak = process.env["SOAK"] === "1";
/** Of each of the two files that run this. */
export const goal = soak ? 500_000 : 1_500;
export const budgetMs = soak ? Number(process.env["SOAK_MINUTES"] ?? 60) * 60_000 : 120_000;
/** Less than this says that it was not run, however busy the machine is. */
export const atLeast = Math.min(goal, (budgetMs / 1000) * 40);
const baseSeed = Number(process.env["TRUTH_SEED"] ?? 1);

/** Conversations of one model until its share is done or its time is over. */
async function run(model: TruthModel, count: number, untilMs: number): Promise<Totals> {
  const totals = noTotals();
  const sampler = randomSampler(model);
  const target = { kind: "sampler" as const, sampler, renderer: model.renderer };
  const abort = new CallAbort(2 ** 30);
  for (let i = 0; i < count && performance.now() < untilMs; i++) {
    const seed = deriveSeed(baseSeed, model.name, i);
    const random = createRandom(seed);
    sampler.random = random;
    sampler.samples.length = 0;
    const uid = `s${i}`;
    const session = openTruthSession(uid, seed);
    const named = session.nameTrajectory("solver");
    const trajectories = random() < 0.8 ? [null] : [null, named];
    try {
      await converse({ target, session, random, trajectories, abort });
      const handles = new Map([[named, "solver"]]);
      const context = { sessionUid: uid, defaultName: "agent", handles };
      checkSession(model, await session.traces(), sampler.samples, context, totals);
    } catch (cause) {
      throw new Error(`${model.name}, TRUTH_SEED=${baseSeed}, conversation ${i}`, { cause });
    }
  }
  abort.dispose();
  return totals;
}

/** All models, one after the other. Prints and returns what was done. */
export async function proveTruth(name: string, models: readonly TruthModel[]): Promise<Totals> {
  const weights = models.reduce((sum, { weight }) => sum + weight, 0);
  const started = performance.now();
  const sum = noTotals();
  let share = 0;
  for (const model of models) {
    share += model.weight / weights;
    const count = Math.ceil((goal * model.weight) / weights);
    const totals = await run(model, count, started + budgetMs * share);
    console.log(`${model.name}: ${JSON.stringify(totals)}`);
    expect(totals.drifted).toBe(0);
    expect(totals.conversations).toBeGreaterThan(0);
    for (const key of Object.keys(sum) as (keyof Totals)[]) sum[key] += totals[key];
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`token truth, ${name}: ${JSON.stringify(sum)} in ${seconds} s`);
  // The test means something only when all of it happened.
  for (const count of [sum.extended, sum.fresh, sum.merged, sum.breaks, sum.malformed]) {
    expect(count).toBeGreaterThan(sum.conversations / 100);
  }
  return sum;
}
