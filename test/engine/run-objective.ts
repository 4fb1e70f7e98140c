/** Test help: the value and gradient of a loss for log-probabilities that a test chooses. */
import type { LossSpec } from "../../src/core/loss/loss.ts";
import type { TrainingRow } from "../../src/core/loss/training-row.ts";
import { gradients } from "../../src/engine/graph/autodiff.ts";
import { Graph } from "../../src/engine/graph/graph.ts";
import { buildObjective, objectiveSums } from "../../src/engine/loss/objective.ts";
import { lossParameterTensors } from "../../src/engine/loss/parameters.ts";
import { createSession } from "../../src/engine/runtime.ts";
import { makeMicroBatches } from "../../src/engine/training/batch.ts";

/** Log-probabilities of one row's tokens; null where a token is not trained. */
export type Numbers = readonly (number | null)[];

export interface ObjectiveCase {
  readonly now: readonly Numbers[];
  readonly sampled: readonly Numbers[];
  /** One per row, or one per token. */
  readonly advantages: readonly (number | Numbers)[];
  readonly weights?: readonly Numbers[];
  readonly reference?: readonly Numbers[];
}

export interface ObjectiveResult {
  readonly loss: number;
  /** Of the loss to `now`; 0 where a token is not trained. */
  readonly gradient: readonly (readonly number[])[];
  readonly sums: Readonly<Record<string, number>>;
}

/** Position 0 of a row is never trained, so numbers begin at 1. */
export function rowOf(item: ObjectiveCase, i: number): TrainingRow {
  const now = item.now[i]!;
  const advantage = item.advantages[i]!;
  const shifted = (value: (k: number) => number | null | undefined): Float32Array =>
    Float32Array.from([0, ...now.map((l, k) => (l === null ? 0 : (value(k) ?? 0)))]);
  const { weights } = item;
  return {
    tokens: new Int32Array(now.length + 1),
    targetMask: Uint8Array.from([0, ...now.map((l) => (l === null ? 0 : 1))]),
    samplingLogprobs: shifted((k) => item.sampled[i]![k]),
    advantages: shifted((k) => (typeof advantage === "number" ? advantage : advantage[k])),
    ...(weights === undefined ? {} : { weights: shifted((k) => weights[i]![k]) }),
    segments: [],
    provenance: {
      taskId: "t",
      episodeId: "e",
      rolloutIndex: i,
      trajectoryUid: "u",
      trajectoryName: "agent",
    },
  };
}

/** The graph that training uses, with the model's output replaced by an input. */
export async function runObjective(item: ObjectiveCase, spec: LossSpec): Promise<ObjectiveResult> {
  const graph = new Graph();
  const logprobs = graph.input("now", "float32", ["R"], true);
  const { loss, sums } = buildObjective(graph, spec, {
    logprobs,
    entropy: () => graph.input("entropy", "float32", ["R"]),
  });
  graph.output("loss", loss);
  for (const [name, value] of Object.entries(sums)) graph.output(name, value);
  graph.output("gradient", gradients(loss, [logprobs])[0]!);
  const session = await createSession(graph.encode(), { threads: 1 });
  const rows = item.now.map((_, i) => rowOf(item, i));
  const [batch] = makeMicroBatches(rows, spec, {
    fit: () => "kept",
    headChunkRows: 100,
  });
  const { origins, lossInputs } = batch!;
  const gathered = (from: readonly Numbers[]): Float32Array =>
    Float32Array.from(origins, ({ row, position }) => from[row]![position - 1] ?? 0);
  const vector = (data: Float32Array) => ({ data, shape: [origins.length] });
  const outputs = await session.run({
    ...lossInputs,
    ...lossParameterTensors(spec),
    now: vector(gathered(item.now)),
    ...(spec.kl ? { reference_logprobs: vector(gathered(item.reference!)) } : {}),
  });
  await session.close();
  const gradient = item.now.map((row) => row.map(() => 0));
  for (const [i, { row, position }] of origins.entries())
    gradient[row]![position - 1] = outputs["gradient"]![i]!;
  const found = objectiveSums.flatMap((name) => {
    const value = outputs[name]?.[0];
    return value === undefined ? [] : [[name, value]];
  });
  return { loss: outputs["loss"]![0]!, gradient, sums: Object.fromEntries(found) };
}
