/** Sampling of rows against the same semantics in TypeScript, `sample-token.ts`, from probabilities in doubles. */
import { expect, it } from "vitest";
import { createNormal, createRandom } from "../../../util/random.ts";
import { sampleToken } from "../../../../test/engine/sample-token.ts";
import { newTensor, tensorOf } from "../tensor.ts";
import { onEveryDevice } from "../../../../test/engine/every-device.ts";
import { sampleRows } from "./sample.ts";

const plain = { temperature: 1, topK: 0, topP: 1, minP: 0 };
const shapes = [
  plain,
  { ...plain, temperature: 0 },
  { ...plain, temperature: 0.6 },
  { ...plain, temperature: 1.4, topP: 0.8 },
  { ...plain, topK: 5 },
  { ...plain, topP: 0.5, minP: 0.02 },
  { temperature: 0.9, topK: 40, topP: 0.95, minP: 0.05 },
];

/** [V] */
function softmax(logits: Float32Array): Float64Array {
  const most = logits.reduce((a, b) => Math.max(a, b), -Infinity);
  const masses = Float64Array.from(logits, (logit) => Math.exp(logit - most));
  const total = masses.reduce((sum, mass) => sum + mass, 0);
  return masses.map((mass) => mass / total);
}

it.each([1, 7, 48, 1000, 32_000])("samples from %i tokens as in TypeScript", (vocabulary) => {
  const random = createRandom(vocabulary);
  const normal = createNormal(random);
  const cases = Array.from({ length: vocabulary > 9000 ? 21 : 140 }, (_, i) => ({
    shape: shapes[i % shapes.length]!,
    uniform: [0, 1 - 2 ** -32, random()][Math.min(2, i % 9)]!,
    logits: Float32Array.from({ length: vocabulary }, () => [0.3, 1, 4][i % 3]! * normal()),
  }));
  const found = onEveryDevice((device, program) => {
    const row = (of: (own: (typeof cases)[number]) => number) => tensorOf(device, cases.map(of));
    const logits = newTensor(device, cases.length, vocabulary);
    for (const [i, own] of cases.entries()) logits.row(i).set(own.logits);
    const tokens = newTensor(device, 1, cases.length, "i32");
    const [logprobs, temperedLogprobs] = [
      newTensor(device, 1, cases.length),
      newTensor(device, 1, cases.length),
    ];
    const uniforms = cases.map(({ uniform }) => uniform);
    const topK = cases.map(({ shape }) => shape.topK);
    sampleRows(program, logits, {
      uniforms: tensorOf(device, uniforms, "f64"),
      temperatures: row(({ shape }) => shape.temperature),
      topP: row(({ shape }) => shape.topP),
      topK: tensorOf(device, topK, "i32"),
      minP: row(({ shape }) => shape.minP),
      biases: null,
      tokens,
      logprobs,
      temperedLogprobs,
    });
    const ids = newTensor(device, 1, cases.length);
    program.runNow();
    ids.data.set(tokens.data);
    return [ids, logprobs, temperedLogprobs];
  });
  for (const [tokens, logprobs, tempered] of found.values()) {
    let same = 0;
    for (const [i, { shape, uniform, logits }] of cases.entries()) {
      const probabilities = softmax(logits);
      const expected = sampleToken(Float32Array.from(probabilities), shape, uniform);
      const token = tokens![i]!;
      same += Number(token === expected.token);
      // Sums differ in their last bits, so a sample may fall on the neighbour: but its numbers are its own.
      const own = Math.log(probabilities[token]!);
      expect(logprobs![i]).toBeCloseTo(own, 4);
      const heated = softmax(logits.map((logit) => logit / (shape.temperature || 1)));
      expect(tempered![i]).toBeCloseTo(Math.log(heated[token]!), 4);
    }
    expect(same / cases.length).toBeGreaterThan(0.97);
  }
});

it("never samples a token without mass", () => {
  const vocabulary = 300;
  const allowed = [[0], [299], [255, 256], [5, 200], [17]];
  const found = onEveryDevice((device, program) => {
    const rows = allowed.length * 2;
    const logits = newTensor(device, rows, vocabulary);
    logits.data.fill(-Infinity);
    for (const [i, ids] of [...allowed, ...allowed].entries())
      for (const id of ids) logits.row(i)[id] = 1;
    const fill = (value: number) => tensorOf(device, new Float32Array(rows).fill(value));
    const tokens = newTensor(device, 1, rows, "i32");
    const uniforms = Float64Array.from({ length: rows }, (_, i) => (i < 5 ? 0 : 1 - 2 ** -32));
    const logprobs = fill(0);
    sampleRows(program, logits, {
      uniforms: tensorOf(device, uniforms, "f64"),
      temperatures: fill(1),
      topP: fill(1),
      topK: newTensor(device, 1, rows, "i32"),
      minP: fill(0),
      biases: null,
      tokens,
      logprobs,
      temperedLogprobs: fill(0),
    });
    program.runNow();
    return [tensorOf(device, tokens.data), logprobs];
  });
  for (const [tokens, logprobs] of found.values()) {
    expect([...tokens!]).toEqual([0, 299, 255, 5, 17, 0, 299, 256, 200, 17]);
    for (const [i, ids] of [...allowed, ...allowed].entries())
      expect(logprobs![i]).toBeCloseTo(-Math.log(ids.length), 6);
  }
});
