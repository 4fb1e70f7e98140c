/**
 * Rollouts that compact, fork and start sub-agents, from captured calls to rows: every sampled token is trained
 * exactly once, after exactly what it was sampled after, with the reward of its rollout. The oracle knows tokens
 * by their log-probabilities and nothing of prefixes.
 */
import assert from "node:assert/strict";
import { expect, it } from "vitest";
import { computeAdvantages } from "../../src/algorithms/advantages.ts";
import { groupTrajectories } from "../../src/algorithms/grouping.ts";
import { buildRows } from "../../src/algorithms/rows/rows.ts";
import { rowFactors } from "../../src/core/loss/aggregation.ts";
import type { TrainingRow } from "../../src/core/loss/training-row.ts";
import type { SideCallUse } from "../../src/core/side-call.ts";
import type { Episode } from "../../src/core/trajectory.ts";
import { attributeTraces } from "../../src/rollouts/attribution/attribution.ts";
import { buildTrajectories } from "../../src/rollouts/attribution/build-trajectories.ts";
import { miniBatches } from "../../src/trainer/update/apply-updates.ts";
import { createRandom, deriveSeed } from "../../src/util/random.ts";
import { type History, randomHistory } from "./random-histories.ts";

const histories = Number(process.env["LINEAGE_HISTORIES"] ?? 10_000);
const perTask = 5;
const rules = ["summary", "sub-agent"].map((name) => ({
  name,
  matches: ({ sideCall }: { sideCall?: string }) => sideCall === name,
}));

interface Rollout {
  readonly history: History;
  readonly episode: Episode;
  readonly reward: number;
}

function rollOut(seed: number, task: number, index: number, use: SideCallUse): Rollout {
  const uid = `${task}/${index}`;
  // Half of them with so few ids that different conversations coincide.
  const history = randomHistory(seed, task % 2 === 0 ? 3 : 100_000, uid);
  const context = { sessionUid: uid, defaultName: "agent", handles: new Map() };
  const { trajectories } = attributeTraces(history.traces, {
    ...context,
    sideCalls: rules,
    sideCallUse: use,
  });
  const reward = index === 0 ? 1 : Math.round(createRandom(seed)() * 4) / 4;
  const episode = {
    ...{ id: `1/${uid}`, task: { id: `t${task}`, instruction: "", metadata: {} } },
    ...{ rolloutIndex: index, terminationReason: "completed", reward, metrics: {} },
    trajectories: buildTrajectories(trajectories, [], context).map((one) => ({ ...one, reward })),
  } as unknown as Episode;
  return { history, episode, reward };
}

/** Throws unless the rows of a rollout train the tokens of `isTrained` calls as they were sampled, once each. */
function checkRows(
  { history }: Rollout,
  rows: readonly TrainingRow[],
  advantage: number,
  isTrained: (call: string) => boolean,
): number {
  const open = new Map([...history.sampled].filter(([, { call }]) => isTrained(call)));
  const trained = open.size;
  for (const { tokens, targetMask, samplingLogprobs, advantages } of rows) {
    for (let i = 0; i < tokens.length; i++) {
      if (targetMask[i] === 0) {
        assert.ok(samplingLogprobs[i] === 0 && advantages[i] === 0, "nothing stands at context");
        continue;
      }
      const token = open.get(samplingLogprobs[i]!);
      assert.ok(token, "it was sampled, belongs to this rollout, and is in no other row");
      open.delete(samplingLogprobs[i]!);
      assert.equal(tokens[i], token.id);
      assert.equal(i, token.context.length);
      for (let k = 0; k < i; k++) if (tokens[k] !== token.context[k]) assert.fail("its context");
      assert.equal(advantages[i], Math.fround(advantage));
    }
  }
  assert.equal(open.size, 0, "every sampled token is trained");
  return trained;
}

/** GRPO without the standard deviation, as its paper writes it: a rollout counts once. */
const advantagesOf = (rollouts: readonly Rollout[]): number[] => {
  const mean = rollouts.reduce((sum, { reward }) => sum + reward, 0) / rollouts.length;
  return rollouts.map(({ reward }) => reward - mean);
};

/** A mean over rollouts of the means over their tokens. */
function checkFactors(rows: readonly TrainingRow[], trained: ReadonlyMap<string, number>): void {
  const sums = new Map<string, number>();
  for (const [i, factor] of rowFactors(rows, "seq-mean-token-mean").entries()) {
    const { episodeId } = rows[i]!.provenance;
    const targets = rows[i]!.targetMask.reduce((sum, one) => sum + one, 0);
    sums.set(episodeId, (sums.get(episodeId) ?? 0) + factor * targets);
    assert.ok(Math.abs(factor - 1 / (trained.size * trained.get(episodeId)!)) < 1e-12);
  }
  for (const sum of sums.values()) assert.ok(Math.abs(sum - 1 / trained.size) < 1e-12);
}

interface Totals {
  calls: number;
  tokens: number;
  rows: number;
  kinds: { summary: number; sub_agent: number };
}

function checkTask(seed: number, task: number, use: SideCallUse, totals: Totals): void {
  const rollouts = Array.from({ length: perTask }, (_, index) =>
    rollOut(deriveSeed(seed, "history", task, index), task, index, use),
  );
  const { groups } = groupTrajectories([{ episodes: rollouts.map(({ episode }) => episode) }]);
  const usable = rollouts.filter(({ episode }) =>
    groups.some(({ members }) => members.some((member) => member.episode === episode)),
  );
  assert.ok(groups.length <= 1, "lineages are no groups of their own");
  if (groups.length === 0) return;
  assert.equal(groups[0]!.members.length, usable.length, "nor members of one");
  const { advantages } = computeAdvantages(groups, { estimator: "grpo", normByStd: false });
  const { rows, metrics } = buildRows(groups, advantages);
  const expected = advantagesOf(usable);
  const trained = new Map<string, number>();
  const kinds = { summary: 0, sub_agent: 0 };
  for (const [i, rollout] of usable.entries()) {
    const { history, episode } = rollout;
    const own = rows.filter(({ provenance }) => provenance.episodeId === episode.id);
    const isTrained = (call: string): boolean => use === "train" || !history.kinds.has(call);
    const count = checkRows(rollout, own, expected[i]!, isTrained);
    trained.set(episode.id, count);
    totals.tokens += count;
    totals.calls += history.traces.length;
    totals.rows += own.length;
    if (own.length > 1)
      for (const { call } of history.sampled.values()) {
        const kind = history.kinds.get(call);
        if (kind !== undefined && isTrained(call)) kinds[kind]++;
      }
    if (task % 2 === 0 || use !== "train") continue;
    // Ids cannot coincide: the rows are the conversations.
    const calls = own.map(({ segments }) =>
      segments.filter(({ kind }) => kind === "response").map(({ traceId }) => traceId),
    );
    expect(calls.toSorted()).toEqual(
      history.conversations.toSorted((a, b) => String(a).localeCompare(String(b))),
    );
  }
  checkFactors(rows, trained);
  const all = [...trained.values()].reduce((sum, count) => sum + count, 0);
  for (const kind of task % 2 === 0 ? [] : (["summary", "sub_agent"] as const)) {
    assert.ok(Math.abs(metrics[`lineages/${kind}_fraction`]! - kinds[kind] / all) < 1e-12);
    totals.kinds[kind] += kinds[kind];
  }
  const batches = miniBatches(rows, { parts: 3, epochs: 1, seed });
  assert.equal(batches.flat().length, rows.length);
  for (const { episode } of usable) {
    const holding = batches.filter((batch) =>
      batch.some(({ provenance }) => provenance.episodeId === episode.id),
    );
    assert.equal(holding.length, 1, "the lineages of a rollout stay in one mini-batch");
  }
}

it.each([
  ["train", histories],
  ["exclude", histories / 10],
] as const)(
  "with rollout.side_calls=%s, masks are exact over %i histories",
  (use, count) => {
    const totals: Totals = { calls: 0, tokens: 0, rows: 0, kinds: { summary: 0, sub_agent: 0 } };
    const seed = Number(process.env["LINEAGE_SEED"] ?? 1);
    for (let task = 0; task < count / perTask; task++) {
      try {
        checkTask(seed, task, use, totals);
      } catch (cause) {
        throw new Error(`LINEAGE_SEED=${seed}, task ${task}`, { cause });
      }
    }
    console.log(`lineages, ${use}: ${JSON.stringify(totals)}`);
    // The test means something only when all of it happened.
    expect(totals.calls).toBeGreaterThan(count * 4);
    expect(totals.rows).toBeGreaterThan(count * 2);
    if (use === "train")
      for (const tokens of Object.values(totals.kinds)) expect(tokens).toBeGreaterThan(count);
  },
  120_000,
);
