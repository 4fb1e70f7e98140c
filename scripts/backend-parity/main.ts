/**
 * `npm run parity [-- --only NAME]`: one step of every backend against `local` from the same weights, written to
 * docs/differences.md. A backend that cannot be installed here is listed with the reason.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { root } from "../../test/integration/root.ts";
import { type Difference, differenceOf, measure, rowsFor } from "./measure.ts";
import { type Peer, peers } from "./peers.ts";
import { Resources } from "./resources.ts";

const file = `${root}/docs/differences.md`;
const start = "<!-- table: npm run parity -->";
const end = "<!-- end of table -->";
const header = [
  "| backend | what | loss | gradient norm | log-probabilities before | after | ratio |",
  "| --- | --- | --- | --- | --- | --- | --- |",
];

/** A server need not report its loss. */
const cell = (value: number): string =>
  Number.isNaN(value) ? "not reported" : value === 0 ? "0" : value.toExponential(1);

async function lineOf({ name, what, optim, open }: Peer): Promise<string> {
  await using resources = new Resources();
  let found: Difference;
  try {
    const { backend, local } = await open(resources);
    const rows = await rowsFor(local);
    const expected = await measure(local, rows, optim);
    const measured = await measure(backend, rows, optim);
    process.stderr.write(`${name}: loss ${measured.loss}, local ${expected.loss}\n`);
    found = differenceOf(measured, expected);
  } catch (error) {
    const [reason] = String(error).split("\n");
    return `| ${name} | ${what} | not run: ${reason} | | | | |`;
  }
  const cells = [found.loss, found.gradNorm, found.before, found.after, found.ratio].map(cell);
  return `| ${name} | ${what} | ${cells.join(" | ")} |`;
}

const { values } = parseArgs({ options: { only: { type: "string" } } });
const measured = new Map<string, string>();
for (const peer of peers) {
  if (values.only !== undefined && !peer.name.includes(values.only)) continue;
  const line = await lineOf(peer);
  measured.set(peer.name, line);
  process.stdout.write(`${line}\n`);
}
const page = readFileSync(file, "utf8");
const [head = "", rest = ""] = page.split(start);
const [table = "", tail = ""] = rest.split(end);
const kept = table.split("\n");
const lines = peers.flatMap(
  ({ name }) => measured.get(name) ?? kept.find((line) => line.startsWith(`| ${name} `)) ?? [],
);
writeFileSync(file, `${head}${start}\n\n${[...header, ...lines].join("\n")}\n\n${end}${tail}`);
