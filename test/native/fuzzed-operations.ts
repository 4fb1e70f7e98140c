/** Each operation with random shapes and options; the names are those of native/kernels/all.c. */
import { adamStep, squareSum, squareSumSize } from "../../src/engine/tensor/operations/adam.ts";
import {
  attend,
  attendBackward,
  keyBlock,
  layOutSegments,
  type AttentionSegment,
} from "../../src/engine/tensor/operations/attention.ts";
import {
  attendCached,
  cacheLayerFloats,
  writeCache,
} from "../../src/engine/tensor/operations/cached-attention.ts";
import { embed, embedBackward } from "../../src/engine/tensor/operations/embed.ts";
import { gate, gateBackward } from "../../src/engine/tensor/operations/gate.ts";
import { logitGradients, logProbabilities } from "../../src/engine/tensor/operations/head.ts";
import { norm, normBackward } from "../../src/engine/tensor/operations/norm.ts";
import { outer } from "../../src/engine/tensor/operations/outer.ts";
import { rotate } from "../../src/engine/tensor/operations/rotate.ts";
import {
  addRows,
  copyRows,
  gatherRows,
  scatterRows,
} from "../../src/engine/tensor/operations/rows.ts";
import { sampleRows } from "../../src/engine/tensor/operations/sample.ts";
import {
  newMatrix,
  newTransposed,
  pack,
  product,
  transpose,
  type Matrix,
  type MatrixFormat,
} from "../../src/engine/tensor/matrix.ts";
import type { Program } from "../../src/engine/tensor/program.ts";
import type { FuzzInputs } from "./fuzz-inputs.ts";

type Fuzz = (program: Program, inputs: FuzzInputs) => void;

function matrix(
  program: Program,
  f: FuzzInputs,
  depth: number,
  columns: number,
  format: MatrixFormat,
): Matrix {
  const made = newMatrix(f.device, depth, columns, format);
  pack(program, f.tensor(columns, depth), made);
  return made;
}

const heads = (f: FuzzInputs) => {
  const keyHeads = f.pick(1, 2, 3);
  const headSize = f.pick(1, 2, 8, 15, 16, 20, 64, 80);
  const shape = { heads: keyHeads * f.pick(1, 2, 3, 7), keyHeads, headSize, scale: 0.3 };
  return { ...shape, window: f.pick(null, 1, f.size(130)) };
};

function segments(f: FuzzInputs): AttentionSegment[] {
  const list: AttentionSegment[] = [];
  let start = 0;
  const place = (prefix: number | null): void => {
    const length = f.size(130);
    list.push({ start, length, prefix });
    start += length;
  };
  for (let family = f.pick(1, 1, 2); family > 0; family--) {
    const first = list.length;
    place(null);
    for (let suffixes = f.below(3); suffixes > 0; suffixes--) place(first);
  }
  return list;
}

const attention: Fuzz = (program, f) => {
  const shape = heads(f);
  const layout = layOutSegments(f.device, segments(f));
  const qkv = f.tensor(layout.tokens, (shape.heads + 2 * shape.keyHeads) * shape.headSize, true);
  const width = shape.heads * shape.headSize;
  attend(program, qkv, f.tensor(layout.tokens, width), shape, layout);
  const gradient = f
    .numbers(qkv.rows, qkv.stride)
    .columnsFrom(qkv.stride - qkv.columns, qkv.columns);
  attendBackward(program, qkv, f.tensor(layout.tokens, width), gradient, shape, layout);
};

const cachedAttention: Fuzz = (program, f) => {
  const shape = heads(f);
  const tokens = f.size(70);
  const sequences = f.size(5);
  const blocks = f.size(3);
  const layerFloats = cacheLayerFloats(shape);
  const memory = f.numbers(sequences * blocks, 2 * layerFloats, true);
  const addressOf = (block: number): number => memory.slice(block, 1).address;
  let block = 0;
  const positions = f.ids(tokens, blocks * keyBlock);
  const places = {
    blocks: f.row(tokens, "f64", () => addressOf(f.below(memory.rows))),
    slots: f.ids(tokens, keyBlock),
    table: f.rows(sequences, blocks, "f64", () => addressOf(block++)),
    sequences: f.ids(tokens, sequences),
    positions,
    positionSum: positions.data.reduce((sum, position) => sum + position + 1, 0),
  };
  const qkv = f.tensor(tokens, (shape.heads + 2 * shape.keyHeads) * shape.headSize, true);
  const offset = f.pick(0, layerFloats);
  writeCache(program, qkv, places, shape, offset);
  attendCached(program, qkv, f.tensor(tokens, shape.heads * shape.headSize), places, shape, offset);
};

const biasesFor = (f: FuzzInputs, rows: number, vocabulary: number) => {
  const count = f.size(4);
  const bias = (): number => (f.below(3) === 0 ? -Infinity : f.number());
  return f.pick(null, { rows: f.rows(count, vocabulary, "f32", bias), of: f.ids(rows, count) });
};

const transposed = (program: Program, f: FuzzInputs, from: Matrix): Matrix => {
  const made = newTransposed(f.device, from);
  transpose(program, from, made);
  return made;
};

const products: Fuzz = (program, f) => {
  const format = f.pick<MatrixFormat>("f32", "bf16", "i8");
  const [rows, depth] = [f.size(220), f.size(150)];
  const weights = f.pick(
    () => matrix(program, f, depth, f.size(280), format),
    () => transposed(program, f, matrix(program, f, f.size(280), depth, format)),
  )();
  const { columns } = weights;
  const adapter = f.pick("f32" as const, "bf16" as const);
  const second = f.tensor(rows, adapter === "f32" ? f.size(40) : 2 * f.size(20));
  product(program, f.tensor(rows, depth, true), weights, f.tensor(rows, columns), {
    precision: f.pick("f32", "bf16"),
    accumulate: f.pick(true, false),
    bias: f.pick(null, f.numbers(1, columns)),
    second: f.pick(null, {
      x: second,
      matrix: matrix(program, f, second.columns, columns, adapter),
    }),
  });
};

const packs: Fuzz = (program, f) => {
  const format = f.pick<"f32" | "bf16">("f32", "bf16");
  const to = newMatrix(f.device, f.size(100), f.size(200), format);
  const [depth, columns] = [f.size(to.depth), f.size(to.columns)];
  const isTransposed = f.pick(true, false);
  const shape = isTransposed ? ([depth, columns] as const) : ([columns, depth] as const);
  const options = {
    transposed: isTransposed,
    depth: f.below(to.depth - depth + 1),
    column: f.below(to.columns - columns + 1),
    factor: f.pick(1, 0.5),
  };
  if (f.pick(true, false)) pack(program, f.tensor(...shape), to, options);
  else
    pack(
      program,
      f.rows(...shape, "bf16", () => f.below(65_536)),
      to,
      options,
    );
  transposed(program, f, to);
};

const quantizations: Fuzz = (program, f) => {
  const to = newMatrix(f.device, f.size(150), f.size(280), "i8");
  const { depth } = to;
  const columns = f.size(to.columns);
  const column = f.below(to.columns - columns + 1);
  const rows = [
    () => f.tensor(columns, depth, true),
    () => f.rows(columns, depth, "bf16", () => f.below(65_536)),
  ];
  pack(program, f.pick(...rows)(), to, { column });
  transposed(program, f, to);
};

const embeddings: Fuzz = (program, f) => {
  const [tokens, width, vocabulary] = [f.size(70), f.size(200), f.size(300)];
  const ids = f.ids(tokens, vocabulary);
  const tables = [
    () => f.numbers(vocabulary, width),
    () => f.rows(vocabulary, width, "bf16", () => f.below(65_536)),
    () => matrix(program, f, width, vocabulary, "f32"),
    () => matrix(program, f, width, vocabulary, "bf16"),
  ];
  embed(program, ids, f.pick(...tables)(), f.tensor(tokens, width), 2);
  embedBackward(program, ids, f.tensor(tokens, width), f.numbers(vocabulary, width), 2);
};

const gates: Fuzz = (program, f) => {
  const [rows, width] = [f.size(70), f.size(200)];
  const gateUp = f.tensor(rows, 2 * width, true);
  const activation = f.pick("silu" as const, "gelu_tanh" as const);
  gate(program, gateUp, f.tensor(rows, width), activation);
  const gradient = f.pick(gateUp, f.tensor(rows, 2 * width));
  gateBackward(program, gateUp, f.tensor(rows, width), gradient, activation);
};

const logitRows: Fuzz = (program, f) => {
  const [rows, vocabulary] = [f.size(20), f.size(500)];
  const logits = f.tensor(rows, vocabulary, true);
  const line = (): ReturnType<typeof f.numbers> => f.numbers(1, rows);
  const [targets, logSums, entropies] = [f.ids(rows, vocabulary), line(), line()];
  const inverseTemperatures = f.pick(null, line());
  const biases = biasesFor(f, rows, vocabulary);
  const hasEntropies = f.pick(true, false);
  logProbabilities(program, logits, {
    ...{ targets, inverseTemperatures, biases, logSums, logprobs: line() },
    entropies: hasEntropies ? entropies : null,
  });
  logitGradients(program, logits, {
    ...{ targets, inverseTemperatures, logSums, coefficients: line() },
    entropy: hasEntropies ? { coefficients: line(), values: entropies } : null,
  });
};

const norms: Fuzz = (program, f) => {
  const [rows, groups, width] = [f.size(70), f.pick(1, 3), f.size(200)];
  const tensor = (): ReturnType<typeof f.tensor> => f.tensor(rows, groups * width, true);
  const weight = f.numbers(1, width);
  const options = { epsilon: 1e-5, offset: f.pick(0, 1), groups, accumulate: f.pick(true, false) };
  norm(program, tensor(), weight, tensor(), options);
  const weightGradient = f.pick(null, f.numbers(1, width));
  normBackward(program, tensor(), weight, tensor(), tensor(), { ...options, weightGradient });
};

const rows: Fuzz = (program, f) => {
  const [count, other, width] = [f.size(70), f.size(70), f.size(200)];
  copyRows(program, f.tensor(count, width), f.tensor(count, width));
  addRows(program, f.tensor(count, width), f.tensor(count, width));
  gatherRows(program, f.tensor(count, width), f.ids(other, count), f.tensor(other, width));
  scatterRows(program, f.tensor(count, width), f.ids(count, other), f.tensor(other, width));
};

const rotations: Fuzz = (program, f) => {
  const [tokens, headSize, positions] = [f.size(70), f.size(100), f.size(50)];
  const half = f.below(Math.floor(headSize / 2) + 1);
  if (half === 0) return;
  rotate(program, f.tensor(tokens, f.pick(1, 2, 5) * headSize), {
    headSize,
    positions: f.ids(tokens, positions),
    cosines: f.numbers(positions, half),
    sines: f.numbers(positions, half),
    direction: f.pick(1, -1),
  });
};

const samples: Fuzz = (program, f) => {
  const [count, vocabulary] = [f.size(20), f.size(500)];
  const line = (value: () => number) => f.row(count, "f32", value);
  sampleRows(program, f.tensor(count, vocabulary, f.pick(true, false)), {
    uniforms: f.row(count, "f64", () => f.pick(0, 1 - 2 ** -53, Math.abs(f.number()))),
    temperatures: line(() => f.pick(0, 1, 0.1, 3)),
    topP: line(() => f.pick(1, 0.5, 1e-6)),
    topK: f.row(count, "i32", () => f.pick(0, 1, f.size(vocabulary), 10_000)),
    minP: line(() => f.pick(0, 0.1, 1)),
    biases: biasesFor(f, count, vocabulary),
    tokens: f.ids(count, 1),
    logprobs: line(() => 0),
    temperedLogprobs: line(() => 0),
  });
};

const outers: Fuzz = (program, f) => {
  const [count, i, j] = [f.size(150), f.size(150), f.size(150)];
  const options = { factor: f.pick(1, 0.5), accumulate: f.pick(true, false) };
  outer(program, f.tensor(count, i), f.tensor(count, j), f.tensor(i, j), options);
};

const steps: Fuzz = (program, f) => {
  const [count, width] = [f.size(20), f.size(1000)];
  const tensor = (): ReturnType<typeof f.numbers> => f.numbers(count, width);
  const moments = { first: tensor(), second: tensor() };
  adamStep(program, tensor(), tensor(), moments, {
    ...{ clip: 1, shrink: 0.99, beta1: 0.9, beta2: 0.95 },
    ...{ correction1: 0.1, correction2: 0.05, eps: 1e-8, learningRate: 1e-3 },
  });
  squareSum(
    program,
    tensor(),
    f.row(squareSumSize(count * width), "f64", () => 0),
  );
};

/** What each of them adds to a program. */
export const fuzzedOperations: ReadonlyMap<Fuzz, readonly string[]> = new Map([
  [attention, ["attend", "attend_backward"]],
  [cachedAttention, ["write_cache", "attend_cached"]],
  [embeddings, ["embed", "embed_backward"]],
  [gates, ["gate", "gate_backward"]],
  [logitRows, ["log_probabilities", "logit_gradients"]],
  [norms, ["norm", "norm_backward"]],
  [outers, ["outer"]],
  [packs, ["pack", "transpose"]],
  [products, ["product"]],
  [quantizations, ["quantize"]],
  [rotations, ["rotate"]],
  [rows, ["copy_rows", "gather_rows", "scatter_rows"]],
  [samples, ["sample_rows"]],
  [steps, ["adam_step", "square_sum"]],
]);
