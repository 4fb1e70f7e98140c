/** Reports as text for people. */
import type { Report } from "./report.ts";
import type { Result } from "./result.ts";

/** Columns two spaces apart; those in `right` are aligned to the right. */
export function formatTable(
  rows: readonly (readonly string[])[],
  right: readonly number[] = [],
): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map((row) =>
      widths
        .map((width, column) => {
          const cell = row[column] ?? "";
          return right.includes(column) ? cell.padStart(width) : cell.padEnd(width);
        })
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Four significant digits, but every digit before the point. */
export function formatNumber(value: number): string {
  return Math.abs(value) >= 1000 ? value.toFixed(0) : String(Number(value.toPrecision(4)));
}

function cells({ metric, unit, ours, goal, met, peer, peerName, ratio }: Result): string[] {
  const verdict = met === null ? "" : met ? "met" : "NOT MET";
  const versus = ratio === null ? "" : `${formatNumber(ratio)}x`;
  const other = peer === null ? "" : `${formatNumber(peer)} ${peerName}`;
  return [metric, formatNumber(ours), unit, versus, other, goal ?? "", verdict];
}

export function reportTable({ machine, versions, quick, results }: Report): string {
  const { cpu, cores, features, memoryGiB, os } = machine;
  const software = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const header = ["metric", "ours", "unit", "ratio", "peer", "goal", ""];
  const rows = [header, ...results.map(cells)];
  const hasPeers = results.some(({ peer }) => peer !== null);
  // Without peers, their two columns would be empty.
  const shown = hasPeers ? rows : rows.map((row) => row.toSpliced(3, 2));
  const lines = [
    formatTable(shown, hasPeers ? [1, 3] : [1]),
    "",
    `${cpu} (${features.join(" ") || "features unknown"}), ${cores} cores, ${memoryGiB} GiB, ${os}; ${software.join(", ")}`,
  ];
  if (quick) lines.push("--quick: sizes are too small for numbers to be quoted.");
  return lines.join("\n");
}
