/** What uPlot needs for a chart: its data, its series, and how they look in the theme of the page. */
import type { ComponentChildren } from "preact";
import type uPlot from "uplot";
import { smooth, type Values } from "../curves.ts";
import { visibleText } from "../episode/visible-text.ts";
import { paddedRange } from "./chart-range.ts";
import { shortNumber } from "./format.ts";
import { colorOf } from "./theme.ts";

export interface ChartLine {
  readonly name: string;
  readonly values: Values;
  /** Points are not joined; the best of them has a ring. @default "line" */
  readonly kind?: "line" | "points" | "best";
  /** @default that of its place */
  readonly token?: string;
  readonly isDashed?: boolean;
}

export interface ChartProps {
  readonly title: string;
  readonly steps: readonly number[];
  readonly lines: readonly ChartLine[];
  /** Filled from `low` to `high`, in the color of the first line, or of the line with this place. */
  readonly bands?: readonly {
    readonly low: Values;
    readonly high: Values;
    readonly line: number;
  }[];
  readonly height?: number;
  readonly isLog?: boolean;
  /** Weight of what came before, 0 to 1. @default 0 */
  readonly smoothing?: number;
  readonly onStep?: (step: number) => void;
  /** After the title. */
  readonly children?: ComponentChildren;
}

/** For as many lines as the comparison of runs shows; the second half is dashed, for those who see no colors. */
const places = 8;
export const tokenOf = ({ token }: ChartLine, i: number): string =>
  token ?? `--line${(i % places) + 1}`;
const faint = (token: string, percent: number): string =>
  colorOf(`color-mix(in srgb, var(${token}) ${percent}%, transparent)`);

/** Distances of labels: 1, 2, 5, 10 ... */
const wholeSteps = Array.from(
  { length: 24 },
  (_, i) => [1, 2, 5][i % 3]! * 10 ** Math.floor(i / 3),
);

/** The steps, then the raw values of each line, then the smoothed ones, then the edges of the bands. */
export function dataOf({ steps, lines, bands = [], smoothing = 0 }: ChartProps): uPlot.AlignedData {
  const isSmooth = ({ kind = "line" }: ChartLine): boolean => kind === "line" && smoothing > 0;
  return [
    [...steps],
    ...lines.map(({ values }) => [...values]),
    ...lines.map((line) =>
      isSmooth(line) ? [...smooth(line.values, smoothing)] : steps.map(() => null),
    ),
    ...bands.flatMap(({ low, high }) => [low, high].map((edge) => [...smooth(edge, smoothing)])),
  ] as uPlot.AlignedData;
}

function seriesOf({ lines, bands = [], smoothing = 0, steps }: ChartProps): uPlot.Series[] {
  const raw = lines.map((line, i): uPlot.Series => {
    const { kind = "line", name } = line;
    const token = tokenOf(line, i);
    if (kind !== "line")
      return {
        label: visibleText(name),
        paths: () => null,
        points: {
          show: true,
          size: kind === "best" ? 14 : 8,
          width: kind === "best" ? 2 : 1,
          stroke: colorOf(kind === "best" ? "var(--fg)" : "var(--panel)"),
          fill: kind === "best" ? "transparent" : colorOf(`var(${token})`),
        },
      };
    return {
      label: visibleText(name),
      stroke: smoothing > 0 ? faint(token, 30) : colorOf(`var(${token})`),
      width: smoothing > 0 ? 1 : 1.75,
      dash: line.isDashed === true || i >= places / 2 ? [6, 4] : [],
      spanGaps: true,
      points: { show: steps.length < 3, size: 5 },
    };
  });
  const smoothed = lines.map((line, i): uPlot.Series => ({
    stroke: colorOf(`var(${tokenOf(line, i)})`),
    width: 2,
    dash: i >= places / 2 ? [6, 4] : [],
    spanGaps: true,
    points: { show: false },
  }));
  const edges = bands.flatMap(() =>
    [0, 1].map((): uPlot.Series => ({ width: 0, spanGaps: true, points: { show: false } })),
  );
  return [{ label: "step" }, ...raw, ...smoothed, ...edges];
}

export function optionsOf(props: ChartProps, width: number, onHover: (at: number | null) => void) {
  const { lines, bands = [], height = 150, isLog = false } = props;
  const firstEdge = 1 + 2 * lines.length;
  const axis = {
    stroke: colorOf("var(--dim)"),
    grid: { stroke: colorOf("var(--line)"), width: 1 },
    ticks: { show: false },
    font: "11px Inter, system-ui, sans-serif",
  };
  const isPositive = lines.every(({ values }) => values.every((one) => one === null || one > 0));
  const options: uPlot.Options = {
    width,
    height,
    legend: { show: false },
    padding: [8, 12, 0, 0],
    scales: {
      x: { time: false },
      y: isLog
        ? { distr: isPositive ? 3 : 4 }
        : { range: (_plot, low, high) => paddedRange(low, high) },
    },
    cursor: {
      y: false,
      points: { size: 6 },
      drag: { x: true, y: false },
      sync: { key: "steps", scales: ["x", null] },
    },
    // There is nothing between two steps.
    axes: [
      { ...axis, incrs: wholeSteps, size: 28, grid: { show: false } },
      {
        ...axis,
        size: 48,
        space: 28,
        values: (_plot, ticks) => ticks.map((tick) => shortNumber(tick)),
      },
    ],
    series: seriesOf(props),
    bands: bands.map(({ line }, i) => ({
      series: [firstEdge + 2 * i + 1, firstEdge + 2 * i],
      fill: faint(tokenOf(lines[line] ?? lines[0]!, line), 18),
    })),
    hooks: { setCursor: [(plot) => onHover(plot.cursor.idx ?? null)] },
  };
  return options;
}

/** Keeps the part that was zoomed to. */
export function setData(plot: uPlot, data: uPlot.AlignedData): void {
  const [before] = plot.data;
  const { min, max } = plot.scales["x"] ?? {};
  const isZoomed =
    (min ?? null) !== null && (min !== before[0] || max !== before[before.length - 1]);
  plot.setData(data, !isZoomed);
  if (isZoomed) plot.redraw();
}
