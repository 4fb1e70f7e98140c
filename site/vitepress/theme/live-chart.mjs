/** A curve whose points can be read, hidden and magnified with the mouse; the picture that it replaces until then. */
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useData } from "vitepress";
import { defineComponent, h, onBeforeUnmount, onMounted, ref, watch } from "vue";

const colors = [
  "#2f7ed8",
  "#2e9e5b",
  "#c2571a",
  "#8a4fd0",
  "#c33c6b",
  "#0e8f9e",
  "#8a7a12",
  "#7a8699",
];
const height = 320;

const numberText = (value) => (value === null ? "–" : String(Number(value.toFixed(3))));

function optionsOf({ x, series }, { width, label }) {
  const axis = (more) => ({
    stroke: () => getComputedStyle(document.documentElement).getPropertyValue("--vp-c-text-2"),
    grid: { stroke: "#80808040" },
    ticks: { stroke: "#80808040" },
    ...more,
  });
  return {
    width,
    height,
    title: label,
    scales: { x: { time: false } },
    axes: [axis({ label: x }), axis({})],
    series: [
      { label: x },
      ...series.map(({ name }, i) => ({
        label: name,
        stroke: colors[i % colors.length],
        dash: i < colors.length ? undefined : [6, 4],
        width: 2,
        spanGaps: true,
        value: (_plot, value) => numberText(value),
      })),
    ],
  };
}

/** One list of x for all series, as uPlot takes them. */
const alignedPoints = ({ series }) =>
  uPlot.join(
    series.map(({ points }) => {
      const sorted = points.toSorted(([a], [b]) => a - b);
      return [sorted.map(([x]) => x), sorted.map(([, y]) => y)];
    }),
  );

export const LiveChart = defineComponent({
  name: "LiveChart",
  props: { name: { type: String, required: true }, label: { type: String, required: true } },
  setup(props, { slots }) {
    const frame = ref(null);
    const isDrawn = ref(false);
    const { isDark } = useData();
    let plot;
    const resize = () => plot?.setSize({ width: frame.value.clientWidth, height });
    onMounted(async () => {
      const { default: charts } = await import("../charts.json");
      const chart = charts[props.name];
      if (frame.value === null || chart === undefined) return;
      isDrawn.value = true;
      const options = optionsOf(chart, { width: frame.value.clientWidth, label: props.label });
      plot = new uPlot(options, alignedPoints(chart), frame.value);
      window.addEventListener("resize", resize);
    });
    watch(isDark, () => plot?.redraw(false), { flush: "post" });
    onBeforeUnmount(() => {
      window.removeEventListener("resize", resize);
      plot?.destroy();
    });
    // An element inside of a paragraph, so it is a span.
    return () => [
      h("span", { class: "live-chart", ref: frame, role: "figure", "aria-label": props.label }),
      isDrawn.value ? null : slots.default(),
    ];
  },
});
