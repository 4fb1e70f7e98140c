/**
 * Rotary embedding frequencies (RoPE, arXiv:2104.09864) as Hugging Face configurations describe them,
 * in the form of transformers 4 (`rope_theta`, `rope_scaling`) and 5 (`rope_parameters`).
 */

type Raw = Readonly<Record<string, unknown>>;

/**
 * Rotation angle per position of each of the `headSize / 2` pairs.
 * @param refuse called with what is not supported.
 */
export function ropeFrequencies(
  config: Raw,
  headSize: number,
  refuse: (what: string) => never,
): readonly number[] {
  const parameters = (config["rope_parameters"] ?? {}) as Raw;
  const scaling = (config["rope_scaling"] ?? parameters) as Raw;
  const theta = config["rope_theta"] ?? parameters["rope_theta"] ?? 10_000;
  if (typeof theta !== "number" || theta <= 0)
    return refuse(`"rope_theta" is ${JSON.stringify(theta)}`);
  const half = headSize / 2;
  const plain = Array.from({ length: half }, (_, i) => theta ** (-i / half));
  const kind = scaling["rope_type"] ?? scaling["type"] ?? "default";
  const number = (key: string): number => {
    const value = scaling[key];
    return typeof value === "number" && value > 0
      ? value
      : refuse(`rope scaling "${key}" is ${JSON.stringify(value)}`);
  };
  switch (kind) {
    case "default":
      return plain;
    case "linear": {
      const factor = number("factor");
      return plain.map((frequency) => frequency / factor);
    }
    case "llama3":
      return llama3(plain, {
        factor: number("factor"),
        low: number("low_freq_factor"),
        high: number("high_freq_factor"),
        original: number("original_max_position_embeddings"),
      });
    default:
      return refuse(
        `rope scaling ${JSON.stringify(kind)} is not supported; supported: default, linear, llama3`,
      );
  }
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
