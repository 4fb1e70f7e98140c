/**
 * Rotary scaling in GGUF and in `config.json`. GGUF keeps Llama 3's as a tensor of factors, one per
 * pair; `config.json` has the four numbers that they were computed from. LongRoPE's factors are in both.
 */
import { shortestFloat } from "./shortest-float.ts";

/** Tensors with factors of pairs; not weights. */
export const ropeTensors = {
  llama3: "rope_freqs.weight",
  short: "rope_factors_short.weight",
  long: "rope_factors_long.weight",
} as const;

export interface GgufRope {
  /** `rope.scaling.type` */
  readonly type: string;
  readonly factor: number | undefined;
  /** By tensor: what each pair's frequency is divided by. */
  readonly factors: ReadonlyMap<string, Float32Array>;
  /** `rope.scaling.attn_factor` */
  readonly attentionFactor?: number | undefined;
  readonly theta: number;
}

/** All Llama 3 models have these; others describe the same factors with another original length. */
const low = 1;
const high = 4;

/** The `rope_scaling` of `config.json`; null when there is none. */
export function ropeScalingOf(
  { type, factor, factors, attentionFactor, theta }: GgufRope,
  refuse: (what: string) => never,
): Readonly<Record<string, unknown>> | null {
  if (type !== "none" && type !== "linear")
    return refuse(`rope scaling "${type}" is not supported; supported: none, linear, Llama 3's`);
  const [short, long] = [factors.get(ropeTensors.short), factors.get(ropeTensors.long)];
  if (short !== undefined && long !== undefined) {
    return {
      rope_type: "longrope",
      short_factor: Array.from(short, shortestFloat),
      long_factor: Array.from(long, shortestFloat),
      ...(attentionFactor === undefined ? {} : { attention_factor: attentionFactor }),
    };
  }
  const llama3 = factors.get(ropeTensors.llama3);
  if (llama3?.some((value) => value !== 1) === true) {
    const found = type === "none" ? fitLlama3(llama3, theta) : null;
    return found ?? refuse("rope_freqs.weight does not hold the factors of Llama 3's rope scaling");
  }
  if (type === "none") return null;
  return { rope_type: "linear", factor: factor ?? refuse('"rope.scaling.factor" is missing') };
}

/** The parameters whose factors these are; null when there are none. */
function fitLlama3(factors: Float32Array, theta: number): Readonly<Record<string, unknown>> | null {
  const factor = Math.max(...factors);
  const wavelengths = Array.from(factors, (_, i) => 2 * Math.PI * theta ** (i / factors.length));
  const blended = factors.findIndex((value) => value > 1 && value < factor);
  if (blended === -1) return null;
  const smooth = (1 / factors[blended]! - 1 / factor) / (1 - 1 / factor);
  const original = Math.round(wavelengths[blended]! * (low + smooth * (high - low)));
  const scaling = {
    factor,
    low_freq_factor: low,
    high_freq_factor: high,
    original_max_position_embeddings: original,
  };
  const fits = wavelengths.every((wavelength, i) => {
    const expected = llama3Factor(wavelength, factor, original);
    return Math.abs(expected - factors[i]!) <= 1e-4 * expected;
  });
  return fits ? { rope_type: "llama3", ...scaling } : null;
}

function llama3Factor(wavelength: number, factor: number, original: number): number {
  if (wavelength < original / high) return 1;
  if (wavelength > original / low) return factor;
  const smooth = (original / wavelength - low) / (high - low);
  return 1 / ((1 - smooth) / factor + smooth);
}
