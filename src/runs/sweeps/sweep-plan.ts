/** Which runs a sweep has: its points, by a grid or at random, each with every seed. Pure. */
import { createHash } from "node:crypto";
import { ConfigError } from "../../core/errors.ts";
import { createRandom, deriveSeed } from "../../util/random.ts";

/** Values of an option: a list, or for a random search a range. */
export type SweepParameter =
  | readonly unknown[]
  | {
      readonly min: number;
      readonly max: number;
      /** `log`: as many values from 0.001 to 0.01 as from 0.01 to 0.1. @default "linear" */
      readonly scale?: "linear" | "log" | undefined;
      /** Whole numbers only. @default false */
      readonly integer?: boolean | undefined;
    };

/** What is searched. */
export interface SweepSearch {
  /** By dotted keys of options. None: one point, for several seeds of one configuration. @default none */
  readonly parameters?: Readonly<Record<string, SweepParameter>>;
  /** `grid`: every combination. `random`: `runs` runs at points sampled at random. @default "grid" */
  readonly search?: "grid" | "random";
  /** How many runs at most; of a grid, the first ones. Needed for a random search. @default all */
  readonly runs?: number | null;
  /** Seed of a random search. @default 0 */
  readonly searchSeed?: number;
}

/** Options by dotted key. */
export type SweepPoint = Readonly<Record<string, unknown>>;

export interface PlannedRun {
  /** Its folder; says its point and its seed. */
  readonly name: string;
  /** Index of its point. */
  readonly point: number;
  readonly seed: number;
}

export interface SweepPlan {
  readonly points: readonly SweepPoint[];
  /** All points with the first seed, then with the next: a sweep that ends early has compared all of them. */
  readonly runs: readonly PlannedRun[];
}

/** More is a mistake in the options. */
const maxRuns = 10_000;

const isList = (parameter: SweepParameter): parameter is readonly unknown[] =>
  Array.isArray(parameter);

function gridOf(parameters: readonly (readonly [string, SweepParameter])[]): SweepPoint[] {
  let points: SweepPoint[] = [{}];
  for (const [key, values] of parameters) {
    if (!isList(values))
      throw new ConfigError({
        message: `A grid needs a list of values of ${key}, which has a range.`,
        hint: "Give it a list, or sample points at random: search: random, and a number of runs.",
        fields: { key },
      });
    if (points.length * values.length > maxRuns)
      throw new ConfigError({
        message: `The grid has more than ${maxRuns} points.`,
        hint: "Give options fewer values, or sample points at random: search: random.",
      });
    points = points.flatMap((point) => values.map((value) => ({ ...point, [key]: value })));
  }
  return points;
}

function sampled(parameter: SweepParameter, random: () => number): unknown {
  if (isList(parameter)) return parameter[Math.floor(random() * parameter.length)];
  const { min, max, scale = "linear", integer = false } = parameter;
  const share = random();
  const upper = integer ? max + 1 : max;
  const value = scale === "log" ? min * (upper / min) ** share : min + (upper - min) * share;
  return integer ? Math.min(max, Math.floor(value)) : Number(value.toPrecision(4));
}

/** `count` different points, or as many as there are: the n-th is the same, whatever `count` is. */
function sampledPoints(
  parameters: readonly (readonly [string, SweepParameter])[],
  count: number,
  seed: number,
): SweepPoint[] {
  const found = new Map<string, SweepPoint>();
  for (let i = 0; found.size < count && i < 100 * count; i++) {
    const random = createRandom(deriveSeed(seed, "sweep", i));
    const point = Object.fromEntries(
      parameters.map(([key, parameter]) => [key, sampled(parameter, random)]),
    );
    found.set(JSON.stringify(point), found.get(JSON.stringify(point)) ?? point);
  }
  return [...found.values()];
}

/** Characters that every file system takes in a name. */
const unsafe = /[^\w.=+-]+/gu;

/** `learning_rate=0.001`; with the whole key where the last part is that of two options. */
function partOf(key: string, value: unknown, keys: readonly string[]): string {
  const last = (name: string): string => name.slice(name.lastIndexOf(".") + 1);
  const short = keys.filter((one) => last(one) === last(key)).length > 1 ? key : last(key);
  const full = `${short}=${typeof value === "string" ? value : JSON.stringify(value)}`;
  // `{"type":"ppo","eps_clip":0.1}` is `ppo-eps_clip-0.1`.
  const plain = full.replaceAll(/["{}[\]]/gu, "").replace("=type:", "=");
  const safe = plain.replaceAll(unsafe, "-").slice(0, 40);
  if (safe === full) return safe;
  // Values that look the same in a name have different folders.
  return `${safe}-${createHash("sha256").update(full).digest("hex").slice(0, 6)}`;
}

/** Options that say which run it is. */
const ofRuns: ReadonlyMap<string, string> = new Map([
  ["trainer.seed", "seeds"],
  ["trainer.experiment_name", "the name of the sweep"],
  ["trainer.output_dir", "the folder of the sweep"],
]);

/** What is wrong with the values of an option, as the end of a sentence; null where nothing is. */
function problemOf(key: string, parameter: SweepParameter): string | null {
  const own = ofRuns.get(key);
  if (own !== undefined) return `cannot be searched: each run has another one, from ${own}`;
  if (isList(parameter)) return parameter.length === 0 ? "has no value to try" : null;
  const { min, max, scale } = parameter;
  if (!(min < max)) return `has the range from ${min} to ${max}, which is none`;
  return scale === "log" && min <= 0 ? `has a log scale, which cannot begin at ${min}` : null;
}

/** @throws ConfigError for a search that is not possible. */
export function planSweep(search: SweepSearch, seeds: readonly number[]): SweepPlan {
  const { parameters = {}, search: kind = "grid", runs: most = null, searchSeed = 0 } = search;
  const all = Object.entries(parameters);
  for (const [key, parameter] of all) {
    const problem = problemOf(key, parameter);
    if (problem !== null) throw new ConfigError({ message: `${key} ${problem}.`, fields: { key } });
  }
  if (kind === "random" && most === null)
    throw new ConfigError({
      message: "A random search needs a number of runs.",
      hint: "Set runs (on the command line --runs).",
    });
  const count = Math.min(maxRuns, Math.max(1, Math.floor((most ?? maxRuns) / seeds.length)));
  const points = kind === "grid" ? gridOf(all) : sampledPoints(all, count, searchSeed);
  const keys = all.map(([key]) => key);
  const planned = seeds.flatMap((seed) =>
    points.map((point, i) => {
      const parts = Object.entries(point).map(([key, value]) => partOf(key, value, keys));
      return { name: [...parts, `seed=${seed}`].join(","), point: i, seed };
    }),
  );
  const kept = most === null ? planned : planned.slice(0, most);
  return { points, runs: kept.length > maxRuns ? kept.slice(0, maxRuns) : kept };
}
