/**
 * `npm run parity [-- --only TEXT]`: a step of every backend against `local` from the same weights, by each loss that is
 * worth a row, written to docs/differences.md. A backend that cannot be installed here is listed with the reason.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { root } from "../../test/integration/root.ts";
import { type Lesson, rowsFor } from "./lessons.ts";
import { type Difference, differenceOf, measure } from "./measure.ts";
import { type Peer, peers } from "./peers.ts";
import { Resources } from "./resources.ts";

const file = `${root}/docs/differences.md`;
const start = "<!-- table: npm run parity -->";
const end = "<!-- end of table -->";
const header = [
  "| backend | what | step of | loss | gradient norm | log-probabilities before | after | ratio |",
  "| --- | --- | --- | --- | --- | --- | --- | --- |",
];

/** A server need not report its loss. */
const cell = (value: number): string =>
  Number.isNaN(value) ? "not reported" : value === 0 ? "0" : value.toExponential(1);

const startOf = ({ name, what }: Peer, lesson: Lesson): string =>
  `| ${name} | ${what} | ${lesson.name} |`;

async function lineOf(peer: Peer, lesson: Lesson): Promise<string> {
  const { name, optim, open } = peer;
  await using resources = new Resources();
  let found: Difference;
  try {
    const { backend, local } = await open(resources, lesson);
    const rows = await rowsFor(local);
    const expected = await measure(local, await lesson.prepare(local, rows, optim), optim);
    const measured = await measure(backend, await lesson.prepare(backend, rows, optim), optim);
    const heard = `losses ${measured.losses.join(", ")}, local ${expected.losses.join(", ")}`;
    process.stderr.write(`${name}, ${lesson.name}: ${heard}\n`);
    found = differenceOf(measured, expected);
  } catch (error) {
    const [reason] = String(error).split("\n");
    return `${startOf(peer, lesson)} not run: ${reason} | | | | |`;
  }
  const cells = [found.loss, found.gradNorm, found.before, found.after, found.ratio].map(cell);
  return `${startOf(peer, lesson)} ${cells.join(" | ")} |`;
}

const { values } = parseArgs({ options: { only: { type: "string" } } });
const pairs = peers.flatMap((peer) => peer.lessons.map((lesson) => ({ peer, lesson })));
const measured = new Map<string, string>();
for (const { peer, lesson } of pairs) {
  const begin = startOf(peer, lesson);
  if (values.only !== undefined && !begin.includes(values.only)) continue;
  const line = await lineOf(peer, lesson);
  measured.set(begin, line);
  process.stdout.write(`${line}\n`);
}
const page = readFileSync(file, "utf8");
const [head = "", rest = ""] = page.split(start);
const [table = "", tail = ""] = rest.split(end);
const kept = table.split("\n");
const lines = pairs.flatMap(({ peer, lesson }) => {
  const begin = startOf(peer, lesson);
  return measured.get(begin) ?? kept.find((line) => line.startsWith(begin)) ?? [];
});
writeFileSync(file, `${head}${start}\n\n${[...header, ...lines].join("\n")}\n\n${end}${tail}`);
