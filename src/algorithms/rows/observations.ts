/**
 * Which tokens of a row the environment wrote after the policy had acted, and how much each counts in the loss
 * (ECHO, Shrivastava et al. 2026, arXiv:2605.24517): the contents of messages between two responses, by role.
 * The words of the template around them are none. Pure.
 */
import type { ChatMessage, Role } from "../../core/message.ts";
import type { Renderer } from "../../core/policy.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { Trace } from "../../core/trace.ts";
import type { TrajectoryGroup } from "../../core/trajectory.ts";

export interface ObservationOptions {
  readonly renderer: Renderer;
  /** By role of the message; roles without one are not learned from. */
  readonly weights: ReadonlyMap<string, number>;
}

export interface ObservedRows {
  readonly rows: readonly TrainingRow[];
  /** `rows/observed_tokens`, `rows/unmatched_observations` */
  readonly metrics: Readonly<Record<string, number>>;
}

interface Span {
  readonly start: number;
  readonly end: number;
  readonly role: Role;
}

function sharedStart(a: Int32Array, b: Int32Array): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a[length] === b[length]) length++;
  return length;
}

function sharedEnd(a: Int32Array, b: Int32Array, most: number): number {
  let length = 0;
  while (length < most && a[a.length - 1 - length] === b[b.length - 1 - length]) length++;
  return length;
}

/**
 * Where in the prompt `tokens`, which continues `previous`, the contents of `added` are: what changes where a
 * content is empty. null where the renderer does not write what stands there.
 */
function contentSpans(
  { renderer, weights }: ObservationOptions,
  tokens: Int32Array,
  previous: Int32Array,
  { added, trace }: { readonly added: readonly ChatMessage[]; readonly trace: Trace },
): readonly Span[] | null {
  const options = { tools: trace.tools };
  const whole = renderer.extend(previous, added, options)?.tokens;
  if (whole === undefined) return null;
  const same = sharedStart(whole, tokens);
  const spans: Span[] = [];
  for (const [i, message] of added.entries()) {
    if (message.role === "assistant" || !((weights.get(message.role) ?? 0) > 0)) continue;
    const silent = added.map((one, j) => (j === i ? { ...one, content: "" } : one));
    const without = renderer.extend(previous, silent, options)?.tokens;
    if (without === undefined) return null;
    const start = sharedStart(whole, without);
    const most = Math.min(whole.length, without.length) - start;
    const end = whole.length - sharedEnd(whole, without, most);
    // The model may be asked to answer in another way than it was then; contents may not differ.
    if (end > same) return null;
    if (end > start) spans.push({ start, end, role: message.role });
  }
  return spans;
}

/** Messages of a call that are new since the response to an earlier one. */
const addedSince = (before: Trace, { messages }: Trace): readonly ChatMessage[] =>
  messages.slice(before.messages.length + 1);

const keyOf = (episodeId: string, traceId: string): string => JSON.stringify([episodeId, traceId]);

function tracesOf(groups: readonly TrajectoryGroup[]): ReadonlyMap<string, Trace> {
  return new Map(
    groups
      .flatMap(({ members }) => members)
      .flatMap(({ episode, trajectory }) =>
        trajectory.steps.map(({ trace }): [string, Trace] => [keyOf(episode.id, trace.id), trace]),
      ),
  );
}

/** @param groups what the rows were made of */
export function withObservations(
  rows: readonly TrainingRow[],
  groups: readonly TrajectoryGroup[],
  options: ObservationOptions,
): ObservedRows {
  const traces = tracesOf(groups);
  let [observed, unmatched] = [0, 0];
  const ofRow = (row: TrainingRow): TrainingRow => {
    const weights = new Float32Array(row.tokens.length);
    const traceOf = (id: string): Trace | undefined =>
      traces.get(keyOf(row.provenance.episodeId, id));
    let any = false;
    for (const [i, { kind, start, end, traceId }] of row.segments.entries()) {
      const before = row.segments[i - 1];
      if (kind !== "prompt" || before === undefined) continue;
      const [last, trace] = [traceOf(before.traceId), traceOf(traceId)];
      if (last === undefined || trace === undefined) continue;
      const previous = row.tokens.subarray(0, start);
      const given = { added: addedSince(last, trace), trace };
      const spans = contentSpans(options, row.tokens.subarray(0, end), previous, given);
      if (spans === null) unmatched++;
      for (const span of spans ?? []) {
        weights.fill(options.weights.get(span.role) ?? 0, span.start, span.end);
        observed += span.end - span.start;
        any = true;
      }
    }
    return any ? { ...row, observationWeights: weights } : row;
  };
  return {
    rows: rows.map(ofRow),
    metrics: { "rows/observed_tokens": observed, "rows/unmatched_observations": unmatched },
  };
}

/** The same row, of which only observations are learned. */
export const onlyObserved = (row: TrainingRow): TrainingRow => ({
  ...row,
  targetMask: new Uint8Array(row.tokens.length),
  advantages: new Float32Array(row.tokens.length),
});
