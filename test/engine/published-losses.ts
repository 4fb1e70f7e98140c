/** Worked numbers of losses: fixture F1 as verl 0.8 computes it, and Tinker's published formulas in plain doubles. */
import { defaultLoss, type LossSpec } from "../../src/core/loss/loss.ts";
import type { ObjectiveCase } from "./run-objective.ts";

export const verl: ObjectiveCase = {
  sampled: [
    [-1, -2, -0.5, -1.5],
    [-0.7, null, -2.2, -1.1],
    [-1.2, -0.9, -0.4, null],
  ],
  now: [
    [-0.9, -2.4, -0.2, -1.5],
    [-0.7, null, -0.9, -1],
    [-2.6, -0.6, -0.45, null],
  ],
  advantages: [1, -0.5, 2],
};
export const tinker: ObjectiveCase = {
  now: [[-1, -2, -0.5, -3]],
  sampled: [[-1.2, -1.5, -0.5, -2]],
  advantages: [[1, 1, -0.5, 2]],
};
export const verlClip = { epsClip: 0.2, epsClipHigh: 0.28 };
const verlWeights = [
  [1, 0.5, 2, 1],
  [1, 1, 1, 0.25],
  [0.8, 1.2, 1, 1],
];
export const spec = (name: LossSpec["name"], extra: Partial<LossSpec> = {}): LossSpec => ({
  ...defaultLoss,
  name,
  ...extra,
});
export const sumOf = (name: LossSpec["name"], extra: Partial<LossSpec> = {}): LossSpec =>
  spec(name, { aggregation: "token-sum", ...extra });

/** Loss, and where it was published the gradient to each log-probability. */
export const published: readonly [string, ObjectiveCase, LossSpec, number, number[][]?][] = [
  [
    "ppo with dual clip",
    verl,
    spec("ppo", { ...verlClip, dualClip: 3 }),
    -0.645856,
    [
      [-0.110517, -0.067032, 0, -0.1],
      [0.05, 0, 0, 0.055259],
      [-0.049319, 0, -0.190246, 0],
    ],
  ],
  ...(
    [
      ["seq-mean-token-sum", -2.152853],
      ["seq-mean-token-mean", -0.604965],
      ["seq-mean-token-sum-norm", -0.538213],
    ] as const
  ).map(([aggregation, loss]): [string, ObjectiveCase, LossSpec, number] => [
    `ppo, ${aggregation}`,
    verl,
    spec("ppo", { ...verlClip, dualClip: 3, aggregation }),
    loss,
  ]),
  [
    "ppo with a weight per token",
    { ...verl, weights: verlWeights },
    spec("ppo", { ...verlClip, dualClip: 3 }),
    -0.82312,
  ],
  [
    "gspo",
    verl,
    spec("gspo", { ...verlClip, aggregation: "seq-mean-token-mean" }),
    -0.521945,
    [
      [-0.083333, -0.083333, -0.083333, -0.083333],
      [0.088593, 0, 0.088593, 0.088593],
      [-0.151463, -0.151463, -0.151463, 0],
    ],
  ],
  ["gmpo", verl, spec("gmpo", { ...verlClip, aggregation: "seq-mean-token-mean" }), -0.517264],
  [
    "gmpo with a weight per token, which enters as the row's geometric mean",
    { ...verl, weights: verlWeights },
    spec("gmpo", { ...verlClip, aggregation: "seq-mean-token-mean" }),
    -0.609512,
  ],
  [
    // Weights 1/2 and 2 leave -1 as it is; their mean would make it -1.25.
    "gmpo with weights that cancel",
    { now: [[-1, -1]], sampled: [[-1, -1]], advantages: [1], weights: [[0.5, 2]] },
    spec("gmpo", { ...verlClip, aggregation: "seq-mean-token-mean" }),
    -1,
    [[-0.5, -0.5]],
  ],
  ["sapo", verl, spec("sapo", { aggregation: "seq-mean-token-mean" }), -1.499572],
  [
    "cispo",
    verl,
    spec("cispo", verlClip),
    0.974417,
    [
      [-0.110517, -0.08, -0.128, -0.1],
      [0.05, 0, 0.064, 0.055259],
      [-0.16, -0.256, -0.190246, 0],
    ],
  ],
  ["dro", verl, spec("dro", { droBeta: 0.1 }), 1.120063],
  [
    "importance_sampling, Tinker",
    tinker,
    sumOf("importance_sampling"),
    -2.0636923,
    [[-1.221402758, -0.60653066, 0.5, -0.735758882]],
  ],
  ["ppo, Tinker", tinker, sumOf("ppo"), -2.042289542, [[0, -0.60653066, 0.5, -0.735758882]]],
  [
    "ppo 0.9 to 1.1, Tinker",
    tinker,
    sumOf("ppo", { epsClip: 0.1, epsClipHigh: 0.1 }),
    -1.942289542,
    [[0, -0.60653066, 0.5, -0.735758882]],
  ],
  ["cispo, Tinker", tinker, sumOf("cispo"), 7.35, [[-1.2, -0.8, 0.5, -1.6]]],
  [
    "cispo 0 to 4, Tinker",
    tinker,
    sumOf("cispo", { epsClip: 1, epsClipHigh: 3 }),
    4.391740725,
    [[-1.221402758, -0.60653066, 0.5, -0.735758882]],
  ],
  ["dro, Tinker", tinker, sumOf("dro", { droBeta: 0.05 }), 8.78225, [[-0.99, -1.025, 0.5, -2.05]]],
  [
    "cross_entropy, Tinker",
    { ...tinker, weights: [[0, 1, 1, 0.5]] },
    sumOf("cross_entropy"),
    4,
    [[0, -1, -1, -0.5]],
  ],
];
