/** A chart of numbers by step. */
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { paddedRange } from "./chart-range.ts";
import { shortNumber } from "./format.ts";
import { visibleText } from "../episode/visible-text.ts";

export interface ChartLine {
  readonly name: string;
  readonly values: readonly (number | null)[];
}

interface ChartProps {
  readonly title: string;
  readonly steps: readonly number[];
  readonly lines: readonly ChartLine[];
  readonly height?: number;
  readonly onStep?: (step: number) => void;
}

/** For as many lines as the comparison of runs draws; the second half is dashed, for those who see no colors. */
const strokes = Array.from({ length: 8 }, (_, i) => `--line${i + 1}`);
const dashOf = (i: number): number[] => (i < strokes.length / 2 ? [] : [6, 4]);

/** Distances of labels: 1, 2, 5, 10 ... */
const wholeSteps = Array.from(
  { length: 24 },
  (_, i) => [1, 2, 5][i % 3]! * 10 ** Math.floor(i / 3),
);

function summary({ title, steps, lines }: ChartProps): string {
  const parts = lines.map(({ name, values }) => {
    const known = values.filter((value) => value !== null);
    return `${name} from ${shortNumber(known[0])} to ${shortNumber(known.at(-1))}`;
  });
  return `${title}, ${steps.length} steps: ${parts.join("; ")}`;
}

export function Chart(props: ChartProps) {
  const { title, steps, lines, height = 150, onStep } = props;
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const style = getComputedStyle(document.documentElement);
    const color = (name: string): string => style.getPropertyValue(name).trim();
    const axis = {
      stroke: color("--dim"),
      grid: { stroke: color("--line"), width: 1 },
      ticks: { stroke: color("--line"), width: 1 },
      font: "11px system-ui",
    };
    const plot = new uPlot(
      {
        width: Math.max(200, element.clientWidth),
        height,
        legend: { show: lines.length > 1 },
        scales: { x: { time: false }, y: { range: (_plot, low, high) => paddedRange(low, high) } },
        cursor: { y: false, points: { size: 5 } },
        // There is nothing between two steps.
        axes: [
          { ...axis, incrs: wholeSteps },
          { ...axis, size: 52, values: (_plot, ticks) => ticks.map(shortNumber) },
        ],
        series: [
          { label: "step" },
          ...lines.map(({ name }, i) => ({
            label: visibleText(name),
            stroke: color(strokes[i % strokes.length] ?? "--line1"),
            width: 1.5,
            dash: dashOf(i),
            spanGaps: true,
            points: { show: steps.length < 40, size: 4 },
          })),
        ],
      },
      [[...steps], ...lines.map(({ values }) => [...values])],
      element,
    );
    const onClick = (): void => {
      const step = steps[plot.cursor.idx ?? -1];
      if (step !== undefined) onStep?.(step);
    };
    plot.over.addEventListener("click", onClick);
    const watcher = new ResizeObserver(() => {
      plot.setSize({ width: Math.max(200, element.clientWidth), height });
    });
    watcher.observe(element);
    return () => {
      watcher.disconnect();
      plot.destroy();
    };
  }, [title, steps, height, JSON.stringify(lines)]);
  return (
    <figure>
      <figcaption>
        {title}{" "}
        <span class="dim">{shortNumber(lines[0]?.values.findLast((value) => value !== null))}</span>
      </figcaption>
      <div ref={place} role="img" aria-label={summary(props)} />
    </figure>
  );
}
