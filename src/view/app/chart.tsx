/** Numbers by step: lines, bands and single points. All charts of a page show the step that is pointed at. */
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { shortNumber } from "./format.ts";
import { type ChartProps, dataOf, optionsOf, setData, tokenOf } from "./plot.ts";
import { useTheme } from "./theme.ts";
import type { RefObject } from "preact";

/** Whether an element has come near the screen: charts below it are made when they are looked for. */
function useVisible<T extends HTMLElement>(): readonly [RefObject<T | null>, boolean] {
  const place = useRef<T>(null);
  const [isVisible, setVisible] = useState(false);
  useEffect(() => {
    const element = place.current;
    if (element === null || isVisible) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setVisible(true);
      },
      { rootMargin: "300px" },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [isVisible]);
  return [place, isVisible];
}

function summary({ title, steps, lines }: ChartProps): string {
  const parts = lines.map(({ name, values }) => {
    const known = values.filter((value) => value !== null);
    return `${name} from ${shortNumber(known[0])} to ${shortNumber(known.at(-1))}`;
  });
  return `${title}, ${steps.length} steps: ${parts.join("; ")}`;
}

/** The latest value of each line, or that of the step that is pointed at. */
function readings({ steps, lines }: ChartProps, at: number | null): readonly string[] {
  const step = at === null ? undefined : steps[at];
  const values = lines.map(({ values: all }) =>
    shortNumber(step === undefined ? all.findLast((value) => value !== null) : all[at ?? 0]),
  );
  return [step === undefined ? "" : `step ${step}`, ...values];
}

export function Chart(props: ChartProps) {
  const { title, steps, lines, bands = [], height = 150, isLog = false, smoothing = 0 } = props;
  const [place, isVisible] = useVisible<HTMLDivElement>();
  const caption = useRef<HTMLElement>(null);
  const plot = useRef<uPlot | null>(null);
  const newest = useRef(props);
  newest.current = props;
  const theme = useTheme();
  const say = (at: number | null): void => {
    const texts = readings(newest.current, at);
    const elements = caption.current?.querySelectorAll("[data-reading]") ?? [];
    for (const [i, element] of [...elements].entries()) element.textContent = texts[i] ?? "";
  };
  const shape = lines.map((line, i) => `${line.kind}/${tokenOf(line, i)}/${line.isDashed}`).join();
  useEffect(() => {
    const element = place.current;
    if (element === null || !isVisible) return undefined;
    const width = (): number => Math.max(160, element.clientWidth);
    const made = new uPlot(
      optionsOf(newest.current, width(), say),
      dataOf(newest.current),
      element,
    );
    plot.current = made;
    let from = 0;
    made.over.addEventListener("mousedown", (event) => (from = event.clientX));
    made.over.addEventListener("click", (event) => {
      const step = newest.current.steps[made.cursor.idx ?? -1];
      // A zoom ends with a click, too.
      if (step !== undefined && Math.abs(event.clientX - from) < 4) newest.current.onStep?.(step);
    });
    const watcher = new ResizeObserver(() => made.setSize({ width: width(), height }));
    watcher.observe(element);
    return () => {
      watcher.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [isVisible, shape, bands.length, height, isLog, smoothing > 0, theme]);
  useEffect(() => {
    if (plot.current !== null) setData(plot.current, dataOf(newest.current));
    say(null);
  }, [steps, smoothing, ...lines.map(({ values }) => values)]);
  const [step = "", ...values] = readings(props, null);
  return (
    <figure class="chart">
      <figcaption ref={caption}>
        <span class="chart-title" title={title}>
          {title}
        </span>
        {props.children}
        <span class="dim number" data-reading>
          {step}
        </span>
        {lines.map((line, i) => (
          <span key={i} class="reading">
            {(lines.length > 1 || line.name !== title) && (
              <>
                <i class={`swatch ${line.kind ?? "line"}`} data-line={tokenOf(line, i).slice(-1)} />
                <span class="dim">{line.name}</span>
              </>
            )}
            <span class="number" data-reading>
              {values[i]}
            </span>
          </span>
        ))}
      </figcaption>
      <div
        ref={place}
        class="plot"
        style={{ minHeight: `${height}px` }}
        role="img"
        aria-label={summary(props)}
      />
    </figure>
  );
}
