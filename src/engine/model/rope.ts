/**
 * Rotary position encoding (RoPE, arXiv:2104.09864) as Hugging Face configurations describe it, in the
 * form of transformers 4 (`rope_theta`, `rope_scaling`) and 5 (`rope_parameters`).
 */

type Raw = Readonly<Record<string, unknown>>;

/**
 * With n frequencies, pairs (i, i + n) of the first 2n elements of a head turn; the others (Phi-4-mini
 * has some) stay as they are.
 */
export interface RopeTable {
  /** Base of the frequencies before they are scaled. */
  readonly theta: number;
  /** Rotation angle per position of each pair. */
  readonly frequencies: readonly number[];
  /** Cosines and sines are multiplied by it (LongRoPE, arXiv:2402.13753); 1 for other kinds. */
  readonly attentionFactor: number;
  /** Positions that these frequencies are for; Infinity where the kind sets no limit. */
  readonly positions: number;
}

export interface RopeSettings {
  readonly theta: number;
  /** `rope_scaling`, or its equivalent. */
  readonly scaling: Raw;
  /** The whole configuration. */
  readonly config: Raw;
}

/** @param refuse called with what is not supported. */
export function ropeSettings(
  config: Raw,
  defaultTheta: number,
  refuse: (what: string) => never,
): RopeSettings {
  const parameters = (config["rope_parameters"] ?? {}) as Raw;
  const scaling = (config["rope_scaling"] ?? parameters) as Raw;
  const theta = config["rope_theta"] ?? parameters["rope_theta"] ?? defaultTheta;
  if (typeof theta !== "number" || theta <= 0)
    return refuse(`"rope_theta" is ${JSON.stringify(theta)}`);
  return { theta, scaling, config };
}

/**
 * @param headSize of which `partial_rotary_factor` turns.
 * @param refuse called with what is not supported.
 */
export function ropeTable(
  { theta, scaling, config }: RopeSettings,
  headSize: number,
  refuse: (what: string) => never,
): RopeTable {
  const number = (key: string, fallback?: unknown): number => {
    const value = scaling[key] ?? fallback;
    return typeof value === "number" && value > 0
      ? value
      : refuse(`rope scaling "${key}" is ${JSON.stringify(value)}`);
  };
  const part = number("partial_rotary_factor", config["partial_rotary_factor"] ?? 1);
  const half = Math.floor(headSize * part) / 2;
  if (part > 1 || !Number.isInteger(half) || half === 0)
    return refuse(`"partial_rotary_factor" is ${part}, of a head of ${headSize}`);
  const plain = Array.from({ length: half }, (_, i) => theta ** (-i / half));
  const unlimited = (frequencies: readonly number[]): RopeTable => ({
    theta,
    frequencies,
    attentionFactor: 1,
    positions: Infinity,
  });
  const kind = scaling["rope_type"] ?? scaling["type"] ?? "default";
  switch (kind) {
    case "default":
      return unlimited(plain);
    case "linear": {
      const factor = number("factor");
      return unlimited(plain.map((frequency) => frequency / factor));
    }
    case "llama3":
      return unlimited(
        llama3(plain, {
          factor: number("factor"),
          low: number("low_freq_factor"),
          high: number("high_freq_factor"),
          original: number("original_max_position_embeddings"),
        }),
      );
    case "su":
    case "longrope": {
      const longest = config["max_position_embeddings"];
      const outer = config["original_max_position_embeddings"];
      const original =
        typeof outer === "number" ? outer : number("original_max_position_embeddings", longest);
      const factor = number("factor", Number(longest) / original);
      const growth = factor <= 1 ? 1 : Math.sqrt(1 + Math.log(factor) / Math.log(original));
      return {
        theta,
        frequencies: shortened(plain, scaling["short_factor"], refuse),
        attentionFactor: number("attention_factor", growth),
        positions: original,
      };
    }
    default:
      return refuse(
        `rope scaling ${JSON.stringify(kind)} is not supported; supported: default, linear, llama3, longrope`,
      );
  }
}

/**
 * LongRoPE has two sets of factors, and uses the long ones for all positions once a sequence is longer than
 * the original context. A cache of keys cannot follow that, so only the short ones are used, up to there.
 */
function shortened(
  frequencies: readonly number[],
  factors: unknown,
  refuse: (what: string) => never,
): readonly number[] {
  const fits =
    Array.isArray(factors) &&
    factors.length === frequencies.length &&
    factors.every((factor) => typeof factor === "number" && factor > 0);
  if (!fits)
    return refuse(`rope scaling "short_factor" is not a list of ${frequencies.length} factors`);
  return frequencies.map((frequency, i) => frequency / (factors[i] as number));
}

/** Llama 3.1: long wavelengths are stretched, short ones kept, those in between interpolated. */
function llama3(
  frequencies: readonly number[],
  { factor, low, high, original }: { factor: number; low: number; high: number; original: number },
): readonly number[] {
  return frequencies.map((frequency) => {
    const wavelength = (2 * Math.PI) / frequency;
    if (wavelength < original / high) return frequency;
    if (wavelength > original / low) return frequency / factor;
    const smooth = (original / wavelength - low) / (high - low);
    return ((1 - smooth) * frequency) / factor + smooth * frequency;
  });
}
