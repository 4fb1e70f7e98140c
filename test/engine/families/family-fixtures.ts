/** Small random models of every family with numbers of transformers and PEFT: `scripts/fixtures/make_families.py`. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export interface FamilyFixture {
  /** A model in Hugging Face layout, 32-bit floats; `adapter/` in it is an adapter of PEFT. */
  readonly folder: string;
  readonly adapterFolder: string;
  readonly lora: { readonly rank: number; readonly alpha: number };
  /** One coefficient for each token but the first. */
  readonly sequences: readonly {
    readonly tokens: readonly number[];
    readonly coefficients: readonly number[];
  }[];
  readonly base: Measured;
  readonly adapted: Measured;
  /** What the base continues a prompt with; no other token comes close. */
  readonly greedy: { readonly prompt: readonly number[]; readonly tokens: readonly number[] };
  /** By `layer_types` of the layers. */
  readonly rope: Readonly<Record<string, ExpectedRope>>;
  /** Differences of the base's log-probabilities: bf16 to f32, and to f32 with the same rounded weights. */
  readonly bfloat16: Readonly<Record<"all" | "arithmetic", { mean: number; max: number }>>;
}

interface Measured {
  /** Of each sequence's tokens but the first. */
  readonly logprobs: readonly (readonly number[])[];
  /** Of the sum of coefficients times log-probabilities, to every parameter or factor. */
  readonly gradients: Readonly<Record<string, ExpectedGradient>>;
}

export interface ExpectedGradient {
  readonly norm: number;
  /** The sum over i of sin(i + 1) times element i. */
  readonly projection: number;
  /** Every n-th element, n = max(1, floor(length / 16)). */
  readonly samples: readonly number[];
}

interface ExpectedRope {
  readonly frequencies: readonly number[];
  readonly positions: readonly number[];
  /** [positions][frequencies], multiplied by the attention factor. */
  readonly cos: readonly (readonly number[])[];
  readonly sin: readonly (readonly number[])[];
}

const root = fileURLToPath(new URL("../../fixtures/families", import.meta.url));

export const familyNames: readonly string[] = readdirSync(root).toSorted();

export function familyFixture(name: string): FamilyFixture {
  const folder = `${root}/${name}`;
  const json = (file: string): unknown => JSON.parse(readFileSync(`${folder}/${file}`, "utf8"));
  const { r, lora_alpha } = json("adapter/adapter_config.json") as Record<string, number>;
  return {
    ...(json("expected.json") as FamilyFixture),
    folder,
    adapterFolder: `${folder}/adapter`,
    lora: { rank: r!, alpha: lora_alpha! },
  };
}

/** The largest of the differences to what is expected, relative to the gradient's norm. */
export function gradientDistance(gradient: Float32Array, expected: ExpectedGradient): number {
  let squares = 0;
  let projection = 0;
  for (const [i, value] of gradient.entries()) {
    squares += value ** 2;
    projection += Math.sin(i + 1) * value;
  }
  const stride = Math.max(1, Math.floor(gradient.length / 16));
  const differences = [
    Math.sqrt(squares) - expected.norm,
    projection - expected.projection,
    ...expected.samples.map((value, i) => gradient[i * stride]! - value),
  ];
  return Math.max(...differences.map(Math.abs)) / expected.norm;
}
