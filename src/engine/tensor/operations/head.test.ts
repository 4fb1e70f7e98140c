import { expect, it } from "vitest";
import { createRandom } from "../../../util/random.ts";
import { Device } from "../device.ts";
import { Program } from "../program.ts";
import { newTensor, tensorOf } from "../tensor.ts";
import { logitGradients, logProbabilities } from "./head.ts";
import {
  differences,
  expectNear,
  onEveryDevice,
  randomTensor,
  randomView,
  valuesOf,
} from "../../../../test/engine/every-device.ts";

interface Row {
  readonly target: number;
  readonly inverse: number;
  readonly bias: ArrayLike<number>;
}

/** In doubles; a token that a bias of -Infinity forbids has no share. */
function reference(logits: ArrayLike<number>, { target, inverse, bias }: Row) {
  const shaped = Array.from(logits, (logit, v) => (logit + bias[v]!) * inverse);
  const most = Math.max(...shaped);
  const sum = shaped.reduce((total, logit) => total + Math.exp(logit - most), 0);
  const logSum = most + Math.log(sum);
  const entropy = -shaped.reduce(
    (total, logit) =>
      logit === -Infinity ? total : total + Math.exp(logit - logSum) * (logit - logSum),
    0,
  );
  return { logSum, entropy, logprob: shaped[target]! - logSum };
}

function randomInputs(device: Device, rows: number, vocabulary: number) {
  const random = createRandom(rows + vocabulary);
  const targets = Array.from({ length: rows }, () => Math.floor(random() * vocabulary));
  const biases = randomTensor(device, 2, vocabulary, random);
  // Neither forbids a target.
  for (let v = 0; v < vocabulary; v += 3) if (!targets.includes(v)) biases.row(1)[v] = -Infinity;
  return {
    logits: randomView(device, rows, vocabulary, random),
    coefficients: randomTensor(device, 1, rows, random),
    entropyCoefficients: randomTensor(device, 1, rows, random),
    targets: tensorOf(device, targets, "i32"),
    inverseTemperatures: tensorOf(
      device,
      targets.map(() => 0.5 + 2 * random()),
    ),
    biases: {
      rows: biases,
      of: tensorOf(
        device,
        targets.map((_, r) => r % 2),
        "i32",
      ),
    },
    results: ["logprobs", "logSums", "entropies"].map(() => newTensor(device, 1, rows)),
  };
}

/** Rows, vocabulary. */
const shapes = [
  [1, 1],
  [3, 2],
  [2, 31],
  [5, 64],
  [4, 1003],
] as const;

it.each(shapes)("equals doubles and finite differences: %i rows of %i", (rows, vocabulary) => {
  const results = onEveryDevice((device, program) => {
    const inputs = randomInputs(device, rows, vocabulary);
    const { logits, coefficients, entropyCoefficients, targets, biases } = inputs;
    const { inverseTemperatures } = inputs;
    const raw = newTensor(device, rows, vocabulary);
    raw.data.set(valuesOf(logits));
    const [logprobs, logSums, entropies] = inputs.results as [never, never, never];
    const tensors = { targets, inverseTemperatures, logSums };
    logProbabilities(program, logits, { ...tensors, biases, logprobs, entropies });
    logitGradients(program, logits, {
      ...tensors,
      coefficients,
      entropy: { coefficients: entropyCoefficients, values: entropies },
    });
    return [raw, ...inputs.results, logits];
  });
  const device = new Device({ threads: 1 });
  const inputs = randomInputs(device, rows, vocabulary);
  const { biases, inverseTemperatures, targets, coefficients, entropyCoefficients } = inputs;
  for (const [raw, logprobs, logSums, entropies, gradients] of results.values())
    for (let r = 0; r < rows; r++) {
      const row = {
        target: targets.data[r]!,
        inverse: inverseTemperatures.data[r]!,
        bias: biases.rows.row(r % 2),
      };
      const [start, end] = [r * vocabulary, (r + 1) * vocabulary];
      const logits = Float64Array.from(raw!.subarray(start, end));
      const expected = reference(logits, row);
      const found = [logprobs![r]!, logSums![r]!, entropies![r]!];
      const { logprob, logSum, entropy } = expected;
      expectNear(Float32Array.from(found), [logprob, logSum, entropy], 1e-6);
      const loss = (changed: Float64Array): number => {
        const at = reference(changed, row);
        return coefficients.data[r]! * at.logprob + entropyCoefficients.data[r]! * at.entropy;
      };
      expectNear(gradients!.subarray(start, end), differences(logits, loss), 3e-6);
    }
});

it("gives forbidden tokens no gradient, and rows without temperature and biases the same bits", () => {
  onEveryDevice((device, program) => {
    const { logits, coefficients, targets, results } = randomInputs(device, 6, 77);
    const [logprobs, logSums] = results as [never, never];
    logits.row(2).fill(-Infinity, 40);
    targets.data[2] = 5;
    const same = newTensor(device, 6, 77);
    same.data.set(valuesOf(logits));
    const plain = { targets, inverseTemperatures: null, logSums };
    logProbabilities(program, logits, { ...plain, biases: null, logprobs, entropies: null });
    logitGradients(program, logits, { ...plain, coefficients, entropy: null });
    const ones = tensorOf(device, Array(6).fill(1));
    const shaped = { ...plain, inverseTemperatures: ones };
    const biases = {
      rows: newTensor(device, 1, 77),
      of: newTensor(device, 1, 6, "i32"),
    };
    const again = newTensor(device, 1, 6);
    logProbabilities(program, same, { ...shaped, biases, logprobs: again, entropies: null });
    logitGradients(program, same, { ...shaped, coefficients, entropy: null });
    program.runNow();
    expect(logits.row(2).subarray(40)).toEqual(new Float32Array(37));
    expect(valuesOf(same)).toEqual(valuesOf(logits));
    expect(again.data).toEqual(valuesOf(logprobs));
    return [];
  });
});

it("says NaN where a logit is not a number or all are forbidden, of that row alone", () => {
  for (const vocabulary of [16, 35])
    for (const at of [0, vocabulary - 1])
      onEveryDevice((device, program) => {
        const logits = newTensor(device, 4, vocabulary);
        logits.row(0)[at] = NaN;
        logits.row(1)[at] = Infinity;
        logits.row(2).fill(-Infinity);
        const [logprobs, logSums, entropies] = [1, 2, 3].map(() => newTensor(device, 1, 4));
        logProbabilities(program, logits, {
          targets: newTensor(device, 1, 4, "i32"),
          inverseTemperatures: null,
          biases: null,
          logprobs: logprobs!,
          logSums: logSums!,
          entropies: entropies!,
        });
        program.runNow();
        expect([...logprobs!.data.subarray(0, 3)]).toEqual([NaN, NaN, NaN]);
        expect(logprobs!.data[3]).toBeCloseTo(-Math.log(vocabulary), 5);
        expect(entropies!.data[3]).toBeCloseTo(Math.log(vocabulary), 5);
        return [];
      });
});

it("refuses targets and biases that do not fit", () => {
  const device = new Device({ threads: 1 });
  const program = new Program(device);
  const { logits, targets, biases, results } = randomInputs(device, 3, 8);
  const [logprobs, logSums] = results as [never, never];
  const tensors = {
    targets,
    biases,
    inverseTemperatures: null,
    logprobs,
    logSums,
    entropies: null,
  };
  const refuse = (wrong: object): void =>
    expect(() => logProbabilities(program, logits, { ...tensors, ...wrong })).toThrow(RangeError);
  refuse({ targets: tensorOf(device, [0, 1, 8], "i32") });
  refuse({ biases: { ...biases, of: tensorOf(device, [0, 1, 2], "i32") } });
  refuse({ biases: { ...biases, rows: newTensor(device, 2, 7) } });
  refuse({ logSums: newTensor(device, 1, 2) });
});
