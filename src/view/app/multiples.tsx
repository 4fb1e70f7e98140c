/** All metrics as small charts in groups; some can be pinned to the top. */
import { useState } from "preact/hooks";
import type { MetricTable, RunEntry } from "../api/runs.ts";
import { Chart } from "./chart.tsx";
import type { ChartSettings } from "./chart-settings.tsx";
import { metricGroups, type MetricGroup } from "./metric-groups.ts";
import { useRemembered } from "./remember.ts";
import { go, linkTo } from "./route.ts";

/** Of a group, until all are asked for. */
const shownFirst = 4;

interface GroupProps {
  readonly run: RunEntry;
  readonly table: MetricTable;
  readonly group: MetricGroup;
  readonly settings: ChartSettings;
  readonly pinned: readonly string[];
  readonly onPin: (name: string) => void;
  readonly isWhole: boolean;
}

function Group({ run, table, group, settings, pinned, onPin, isWhole }: GroupProps) {
  const [isOpen, setOpen] = useState(false);
  const { title, names } = group;
  const shown = isWhole || isOpen ? names : names.slice(0, shownFirst);
  return (
    <section aria-label={title}>
      <div class="row">
        <h2>{title}</h2>
        {shown.length < names.length && (
          <button type="button" class="plain" onClick={() => setOpen(true)}>
            Show all {names.length}
          </button>
        )}
        {isOpen && !isWhole && (
          <button type="button" class="plain" onClick={() => setOpen(false)}>
            Show fewer
          </button>
        )}
      </div>
      <div class="charts">
        {shown.map((name) => (
          <Chart
            key={name}
            title={name}
            steps={table.steps}
            lines={[{ name, values: table.series[name] ?? [] }]}
            height={120}
            {...settings}
            onStep={(step) => go(linkTo("episodes", run.key, "", { step }))}
          >
            <button
              type="button"
              class="plain pin"
              aria-pressed={pinned.includes(name)}
              aria-label={`Pin ${name}`}
              title={pinned.includes(name) ? "Unpin" : "Pin to the top"}
              onClick={() => onPin(name)}
            >
              {pinned.includes(name) ? "★" : "☆"}
            </button>
          </Chart>
        ))}
      </div>
    </section>
  );
}

interface MultiplesProps {
  readonly run: RunEntry;
  readonly table: MetricTable;
  readonly settings: ChartSettings;
}

export function Multiples({ run, table, settings }: MultiplesProps) {
  const [text, setText] = useState("");
  const [stored, store] = useRemembered("pinned");
  const pinned = stored === "" ? [] : stored.split("\n");
  const names = Object.keys(table.series);
  const known = pinned.filter((name) => names.includes(name));
  const groups = [
    ...(known.length === 0 || text !== "" ? [] : [{ title: "Pinned", names: known }]),
    ...metricGroups(table.series, text),
  ];
  const pin = (name: string): void =>
    store(
      (pinned.includes(name) ? pinned.filter((one) => one !== name) : [...pinned, name]).join("\n"),
    );
  return (
    <section aria-label="Metrics" class="panel">
      <header>
        <h2>All metrics</h2>
        <input
          type="search"
          placeholder={`find one of ${names.length}`}
          aria-label="Find metrics"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </header>
      {groups.length === 0 && <p class="dim">No metric has this in its name.</p>}
      <div class="stack">
        {groups.map((group) => (
          <Group
            key={group.title}
            {...{ run, table, group, settings, pinned }}
            onPin={pin}
            isWhole={text !== "" || group.title === "Pinned"}
          />
        ))}
      </div>
    </section>
  );
}
