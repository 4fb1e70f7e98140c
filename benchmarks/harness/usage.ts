/** The text of `npm run bench` without a name and of `--help`. */
import type { Benchmark } from "./benchmark.ts";
import { formatTable } from "./table.ts";

const options = [
  ["  --json", "print the report as one JSON object on stdout"],
  ["  --save", "write it to benchmarks/results/NAME.json"],
  ["  --quick", "smaller sizes: shows that it works, not how fast it is"],
  [
    "  --repetitions N",
    "measured repetitions, of which the median counts (default 3; gateway-peers, hostile-schemas 5)",
  ],
  ["  --seeds N", "demo: seeds 1 to N (default 5)"],
];

export function usage(benchmarks: readonly Benchmark[]): string {
  const list = formatTable(benchmarks.map(({ name, summary }) => [`  ${name}`, summary]));
  return [
    "npm run bench -- NAME [options]",
    `\nBenchmarks:\n${list}`,
    `\nOptions:\n${formatTable(options)}`,
    "\nExamples:",
    "  npm run bench -- gateway",
    "  npm run --silent bench -- engine-train --json > report.json\n",
  ].join("\n");
}
