/** What must hold of every session, held against what the sampler drew. Throws at the first breach. */
import assert from "node:assert/strict";
import { buildRows } from "../../src/algorithms/rows/rows.ts";
import type { Trace } from "../../src/core/trace.ts";
import type { Episode, GroupMember } from "../../src/core/trajectory.ts";
import {
  attributeTraces,
  type AttributionContext,
} from "../../src/rollouts/attribution/attribution.ts";
import { buildTrajectories } from "../../src/rollouts/attribution/build-trajectories.ts";
import type { TruthModel } from "./truth-models.ts";

export interface Totals {
  conversations: number;
  calls: number;
  extended: number;
  fresh: number;
  rows: number;
  merged: number;
  breaks: number;
  sampledTokens: number;
  drifted: number;
  malformed: number;
  toolCalls: number;
}

export function noTotals(): Totals {
  return {
    conversations: 0,
    calls: 0,
    extended: 0,
    fresh: 0,
    rows: 0,
    merged: 0,
    breaks: 0,
    sampledTokens: 0,
    drifted: 0,
    malformed: 0,
    toolCalls: 0,
  };
}

/** Those that the client asks for. */
const stopStrings = /END|\n\n/;

function startsWith(tokens: Int32Array, start: Int32Array, at = 0): boolean {
  if (tokens.length < at + start.length) return false;
  for (let i = 0; i < start.length; i++) if (tokens[at + i] !== start[i]) return false;
  return true;
}

/** The ids of each trace are those drawn for it, and a prompt continues what it says it continues. */
function checkTraces(model: TruthModel, traces: readonly Trace[], totals: Totals): void {
  const byId = new Map(traces.map((trace) => [trace.id, trace]));
  for (const trace of traces) {
    totals.calls++;
    if (trace.malformed !== undefined) totals.malformed++;
    totals.toolCalls += trace.response.toolCalls?.length ?? 0;
    assert.equal(trace.logprobs.length, trace.responseIds.length);
    if (trace.parentId === null) {
      totals.fresh++;
      // Rendering again is a third of all time, so it is done for some.
      if (totals.fresh % 8 !== 0) continue;
      const whole = model.renderer.render(trace.messages, { tools: trace.tools }).tokens;
      assert.ok(startsWith(whole, trace.promptIds) && whole.length === trace.promptIds.length);
      continue;
    }
    totals.extended++;
    const parent = byId.get(trace.parentId);
    assert.ok(parent, "the parent is a trace of this session");
    assert.ok(parent.sequence < trace.sequence);
    assert.ok(startsWith(trace.promptIds, parent.promptIds));
    assert.ok(startsWith(trace.promptIds, parent.responseIds, parent.promptIds.length));
    // And it is the exchange that the client speaks of.
    const response = trace.messages[parent.messages.length];
    assert.equal(response?.role, "assistant");
    assert.equal(response.content, parent.response.content);
    assert.equal(response.toolCalls?.length, parent.response.toolCalls?.length);
    for (const [i, message] of parent.messages.entries()) {
      assert.equal(trace.messages[i]?.content, message.content);
    }
  }
}

function checkRows(traces: readonly Trace[], context: AttributionContext, totals: Totals): void {
  const byId = new Map(traces.map((trace) => [trace.id, trace]));
  const attribution = attributeTraces(traces, context);
  const { trajectories: captured, unusedChoices } = attribution;
  const attributed = captured.reduce((sum, own) => sum + own.traces.length, 0);
  assert.equal(attributed + unusedChoices, traces.length, "no call is lost on the way");
  const expected = new Set(
    captured.flatMap((own) =>
      own.traces.filter(({ responseIds }) => responseIds.length > 0).map(({ id }) => id),
    ),
  );
  for (const trajectory of buildTrajectories(captured, [], context)) {
    const episode = { id: "e", task: { id: "t" }, rolloutIndex: 0 } as unknown as Episode;
    const member: GroupMember = { trajectory, episode, reward: 1 };
    const group = { id: "t:a", taskId: "t", name: trajectory.name, members: [member] };
    const { rows, metrics } = buildRows([group], [Float64Array.of(0.5)]);
    const breaks = Object.entries(metrics)
      .filter(([name]) => name.startsWith("rows/breaks/"))
      .reduce((sum, [, count]) => sum + count, 0);
    // Every row but the first is a counted break.
    assert.equal(breaks, Math.max(0, rows.length - 1));
    totals.rows += rows.length;
    totals.breaks += breaks;
    for (const row of rows) {
      const mask = new Uint8Array(row.tokens.length);
      let responses = 0;
      let end = 0;
      for (const segment of row.segments) {
        assert.equal(segment.start, end);
        ({ end } = segment);
        const trace = byId.get(segment.traceId);
        assert.ok(trace);
        if (segment.kind === "prompt") {
          assert.equal(segment.end, trace.promptIds.length);
          assert.ok(startsWith(row.tokens, trace.promptIds));
          continue;
        }
        responses++;
        assert.ok(expected.delete(segment.traceId), "each answer is in exactly one row");
        mask.fill(1, segment.start, segment.end);
        assert.equal(segment.end - segment.start, trace.responseIds.length);
        totals.sampledTokens += trace.responseIds.length;
        for (let i = 0; i < trace.responseIds.length; i++) {
          if (row.tokens[segment.start + i] !== trace.responseIds[i]) totals.drifted++;
          if (row.samplingLogprobs[segment.start + i] !== trace.logprobs[i]) totals.drifted++;
        }
      }
      totals.merged += responses - 1;
      assert.equal(end, row.tokens.length);
      assert.equal(Buffer.compare(mask, row.targetMask), 0, "the mask is 1 exactly where sampled");
    }
  }
  assert.equal(expected.size, 0, "every answer is in a row");
}

/** @param samples what the sampler gave, in the order in which it was asked */
export function checkSession(
  model: TruthModel,
  traces: readonly Trace[],
  samples: readonly Int32Array[],
  context: AttributionContext,
  totals: Totals,
): void {
  totals.conversations++;
  assert.equal(traces.length, samples.length);
  for (const [i, trace] of traces.entries()) {
    const sampled = samples[i] as Int32Array;
    assert.ok(startsWith(sampled, trace.responseIds));
    if (trace.responseIds.length === sampled.length) continue;
    // Only a stop string ends an answer before all was drawn.
    assert.equal(trace.stopReason, "stop");
    assert.match(model.renderer.decode(trace.responseIds), stopStrings);
  }
  checkTraces(model, traces, totals);
  checkRows(traces, context, totals);
}
