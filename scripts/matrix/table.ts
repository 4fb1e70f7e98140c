/** The matrix as a table in docs/frameworks.md, a row for each version; those that were not run now stay. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { groupBy } from "../../src/util/group-by.ts";
import { root } from "../../test/integration/root.ts";
import { commandLineAgents } from "./command-line.ts";
import { frameworks, type Row } from "./rows.ts";

const page = join(root, "docs", "frameworks.md");
const data = join(root, "docs", "frameworks.json");
const [begin, end] = ["<!-- matrix: begin -->", "<!-- matrix: end -->"];

/** In the order of the rows' definitions, newer versions first, then by Node. */
const names = [...frameworks, ...commandLineAgents].map(({ name }) => name);
const major = (text: string): number => Number(text.split(".")[0]) || 0;
const inOrder = (a: Row, b: Row): number =>
  names.indexOf(a.framework) - names.indexOf(b.framework) ||
  major(b.version) - major(a.version) ||
  major(a.node) - major(b.node);

/** A row without a training keeps that of the same version before. */
const withTraining = (row: Row, before: Row | undefined): Row =>
  row.steps === null && before !== undefined && before.version === row.version
    ? {
        ...row,
        rewardFirst: before.rewardFirst,
        rewardLast: before.rewardLast,
        steps: before.steps,
      }
    : row;

const keyOf = ({ framework, version, node }: Row): string =>
  [framework, version.split(".")[0], node.split(".")[0]].join(" ");

const reward = ({ rewardFirst, rewardLast, steps }: Row): string =>
  rewardFirst === null || rewardLast === null
    ? "–"
    : `${rewardFirst.toFixed(2)} → ${rewardLast.toFixed(2)} (${steps} steps)`;

const sum = (rows: readonly Row[], count: (row: Row) => number): number =>
  rows.reduce((total, row) => total + count(row), 0);

/** A version of a framework, on each Node that it was run on. */
function line(rows: readonly Row[]): string {
  const first = rows[0]!;
  const merged = rows.find((row) => row.rows !== undefined)?.rows;
  const cells = [
    first.framework,
    first.version,
    rows.map(({ node }) => node).join(", "),
    first.protocol,
    first.lines,
    `${sum(rows, ({ captured }) => captured)} of ${sum(rows, ({ calls }) => calls)}`,
    sum(rows, ({ misattributed }) => misattributed),
    merged === undefined ? "–" : Number(merged.toFixed(2)),
    reward(rows.find(({ steps }) => steps !== null) ?? first),
    rows.find(({ note }) => note !== undefined)?.note ?? "",
  ];
  return `| ${cells.join(" | ")} |`;
}

/** All rows, those of before included. */
export function writeTable(rows: readonly Row[]): readonly Row[] {
  const before = existsSync(data) ? (JSON.parse(readFileSync(data, "utf8")) as Row[]) : [];
  const merged = new Map(before.map((row) => [keyOf(row), row]));
  for (const row of rows) merged.set(keyOf(row), withTraining(row, merged.get(keyOf(row))));
  const all = [...merged.values()].toSorted(inOrder);
  writeFileSync(data, `${JSON.stringify(all, null, 2)}\n`);
  const versions = groupBy(all, ({ framework, version }) => `${framework} ${version}`);
  const table = [
    "| framework | version | Node | protocol | lines changed | calls captured | in a wrong rollout | rows per rollout | reward | note |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ...[...versions.values()].map(line),
  ].join("\n");
  const text = readFileSync(page, "utf8");
  const [head] = text.split(begin);
  const [, tail] = text.split(end);
  writeFileSync(page, `${head}${begin}\n\n${table}\n\n${end}${tail}`);
  return all;
}
