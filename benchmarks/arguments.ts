/** The command line of `npm run bench`, read and checked before anything runs. */
import { parseArgs } from "node:util";
import { ConfigError } from "../src/core/errors.ts";
import { nearestName } from "../src/util/nearest-name.ts";
import type { Benchmark, BenchmarkOptions } from "./harness/benchmark.ts";

export type BenchCommand =
  | { readonly kind: "help" }
  | {
      readonly kind: "run";
      readonly benchmark: Benchmark;
      readonly options: BenchmarkOptions;
      readonly isJson: boolean;
      readonly isSaved: boolean;
    };

const flags = {
  json: { type: "boolean", default: false },
  save: { type: "boolean", default: false },
  quick: { type: "boolean", default: false },
  repetitions: { type: "string" },
  seeds: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
} as const;

const seeHelp = "npm run bench -- --help shows what there is.";

function refuse(message: string, hint: string = seeHelp): never {
  throw new ConfigError({ message, hint });
}

/** @throws ConfigError for anything that could not be honoured. */
export function parseArguments(
  args: readonly string[],
  benchmarks: readonly Benchmark[],
): BenchCommand {
  const { values, positionals } = readFlags(args);
  const [name, ...rest] = positionals;
  if (values.help || (name === undefined && args.length === 0)) return { kind: "help" };
  if (name === undefined) return refuse("No benchmark was named.");
  if (rest.length > 0) refuse(`One benchmark at a time, but there is also "${rest.join(" ")}".`);
  const benchmark = find(name, benchmarks);
  if (values.seeds !== undefined && benchmark.name !== "demo") {
    refuse(`--seeds is for demo; ${benchmark.name} has no seeds.`);
  }
  if (values.repetitions !== undefined && benchmark.name === "demo") {
    refuse("--repetitions is not for demo, which repeats with other seeds.", "Use --seeds.");
  }
  if (benchmark.isOnce && (values.repetitions !== undefined || values.quick)) {
    refuse(`${benchmark.name} is run once and as it is.`, "Leave out --repetitions and --quick.");
  }
  if (values.save && values.quick) {
    refuse(
      "--save keeps numbers to be quoted; those of --quick are not.",
      "Leave one of them out.",
    );
  }
  const { quick } = values;
  const options = {
    quick,
    repetitions: count("repetitions", values.repetitions, quick ? 1 : (benchmark.repetitions ?? 3)),
    seeds: count("seeds", values.seeds, quick ? 1 : 5),
  };
  if (values.save && options.repetitions < 3 && !benchmark.isOnce) {
    refuse(
      "Numbers to be quoted are medians of 3 repetitions or more.",
      "Leave out --repetitions.",
    );
  }
  return { kind: "run", benchmark, options, isJson: values.json, isSaved: values.save };
}

function readFlags(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: flags, allowPositionals: true });
  } catch (error) {
    const unknown = args.find(
      (arg) => arg.startsWith("--") && !(arg.slice(2).replace(/=.*$/u, "") in flags),
    );
    if (unknown === undefined)
      return refuse(error instanceof Error ? error.message : String(error));
    const near = nearestName(unknown.slice(2), Object.keys(flags));
    return refuse(
      `There is no option ${unknown}.`,
      near === undefined ? seeHelp : `Did you mean --${near}?`,
    );
  }
}

function find(name: string, benchmarks: readonly Benchmark[]): Benchmark {
  const names = benchmarks.map((benchmark) => benchmark.name);
  const near = nearestName(name, names);
  return (
    benchmarks.find((benchmark) => benchmark.name === name) ??
    refuse(
      `There is no benchmark "${name}".`,
      near === undefined ? `There are: ${names.join(", ")}.` : `Did you mean ${near}?`,
    )
  );
}

function count(flag: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (/^\d+$/u.test(text) && value >= 1 && value <= 1000) return value;
  return refuse(`--${flag} must be a whole number from 1 to 1000, but it is "${text}".`);
}
