/** What tokens can be coloured by, with the level of each value. Pure. */
import type { TokenView } from "../api/conversation.ts";

/** Class of a token's background: `heat0` to `heat5`, or `more1` to `less3` around zero. */
type HeatClass = string;

export interface Quantity {
  readonly name: string;
  /** One value per sampled token. */
  readonly values: readonly number[];
  readonly heat: (value: number) => HeatClass;
  /** The legend, from the lowest level on. */
  readonly legend: readonly (readonly [HeatClass, string])[];
}

type Legend = readonly string[];

/** Levels by upper bounds: a value below the first is `heat0`. */
function scale(bounds: readonly number[], of: (value: number) => number = (value) => value) {
  return {
    heat: (value: number): HeatClass => {
      const level = bounds.findIndex((bound) => of(value) < bound);
      return `heat${level === -1 ? bounds.length : level}`;
    },
    legend: (texts: Legend) => texts.map((text, i) => [`heat${i}`, text] as const),
  };
}

const certain = scale([1, 2, 3, 4, 5], (logprob) => -logprob);
const certainLegend = certain.legend(["likely", "≤ e⁻¹", "≤ e⁻²", "≤ e⁻³", "≤ e⁻⁴", "≤ e⁻⁵"]);
const gap = scale([0.01, 0.05, 0.2, 0.5, 1], Math.abs);
const gapLegend = gap.legend(["< 1 %", "< 5 %", "< 22 %", "< 65 %", "< 2.7 ×", "more"]);
const uncertain = scale([0.05, 0.25, 0.5, 1, 2]);
const uncertainLegend = uncertain.legend([
  "< 0.05",
  "< 0.25",
  "< 0.5",
  "< 1",
  "< 2",
  "2 nats or more",
]);

/** Log-probabilities at sampling in the distribution that was trained; null where they are at another temperature. */
function samplingLogprobs(tokens: TokenView): readonly number[] | null {
  const { trained, logprobs, temperedLogprobs, logprobKind } = tokens;
  if (trained === null || trained.temperature === 1) return logprobs;
  return temperedLogprobs ?? (logprobKind === "processed" ? logprobs : null);
}

/** log(p at training / p at sampling) of each token; null where one of the two is not known. */
export function logRatios(tokens: TokenView): readonly number[] | null {
  const sampled = samplingLogprobs(tokens);
  const { trained } = tokens;
  if (trained === null || sampled === null || sampled.length !== trained.logprobs.length)
    return null;
  return trained.logprobs.map((value, i) =>
    trained.mask[i] === 0 ? 0 : value - (sampled[i] ?? value),
  );
}

/** Around zero, in thirds of the largest. */
function signed(values: readonly number[]): Pick<Quantity, "heat" | "legend"> {
  const most = values.reduce((found, value) => Math.max(found, Math.abs(value)), 0);
  return {
    heat: (value) => {
      if (value === 0 || most === 0) return "heat0";
      const third = Math.min(3, Math.ceil((3 * Math.abs(value)) / most));
      return `${value > 0 ? "more" : "less"}${third}`;
    },
    legend: [
      ["less3", `−${Number(most.toPrecision(3))}`],
      ["less1", "below 0"],
      ["heat0", "0"],
      ["more1", "above 0"],
      ["more3", `+${Number(most.toPrecision(3))}`],
    ],
  };
}

/** Those that are known of a call, the log-probability at sampling first. */
export function quantitiesOf(tokens: TokenView): readonly Quantity[] {
  const { trained, logprobs } = tokens;
  const first: Quantity = {
    name: "logprob at sampling",
    values: logprobs,
    heat: certain.heat,
    legend: certainLegend,
  };
  if (trained === null) return [first];
  const { reference, entropy, advantages, mask, weights } = trained;
  const ratios = logRatios(tokens);
  const found: (Quantity | null)[] = [
    first,
    { ...first, name: "logprob at training", values: trained.logprobs },
    ratios === null
      ? null
      : {
          name: "importance ratio",
          values: ratios.map((value) => Math.exp(value)),
          heat: (value) => gap.heat(Math.log(value)),
          legend: gapLegend,
        },
    reference === null
      ? null
      : {
          name: "training / reference",
          values: trained.logprobs.map((value, i) => Math.exp(value - (reference[i] ?? value))),
          heat: (value) => gap.heat(Math.log(value)),
          legend: gapLegend,
        },
    entropy === null
      ? null
      : { name: "entropy", values: entropy, heat: uncertain.heat, legend: uncertainLegend },
    { name: "advantage", values: advantages, ...signed(advantages) },
    weights === null ? null : { name: "weight", values: weights, ...signed(weights) },
    {
      name: "mask",
      values: mask,
      heat: (value) => (value === 0 ? "heat4" : "heat0"),
      legend: [
        ["heat0", "trained"],
        ["heat4", "not trained"],
      ],
    },
  ];
  return found.filter((one) => one !== null);
}

/** What a conversation can be coloured by; of each, the call shows the first that it has. */
export const overlays: readonly (readonly [string, readonly string[]])[] = [
  ["log-probability", ["logprob at sampling"]],
  ["entropy", ["entropy"]],
  ["advantage", ["advantage"]],
  ["importance ratio", ["importance ratio"]],
];

/** By the name of an overlay; null where the call has no such number. */
export function quantityNamed(known: readonly Quantity[], overlay: string): Quantity | null {
  const names = overlays.find(([name]) => name === overlay)?.[1] ?? [];
  return known.find(({ name }) => names.includes(name)) ?? null;
}

/** Position of the largest value of `of`; 0 for an empty list. */
export function largest(values: readonly number[], of: (value: number) => number): number {
  return values.reduce((best, value, at) => (of(value) > of(values[best] ?? 0) ? at : best), 0);
}
