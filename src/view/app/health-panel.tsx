/** Is it healthy? A line for each finding and for each vital sign; evidence and charts open below it. */
import { useState } from "preact/hooks";
import type { Finding, MetricTable, RunEntry } from "../api/runs.ts";
import { endsOf } from "../curves.ts";
import { isBadEnd } from "../run-status.ts";
import { Chart } from "./chart.tsx";
import type { ChartSettings } from "./chart-settings.tsx";
import { percent, shortNumber } from "./format.ts";
import { Pending } from "./pending.tsx";
import { useRead } from "./read.ts";
import { go, linkTo } from "./route.ts";
import { Sparkline } from "./sparkline.tsx";
import { type VitalSign, vitalSigns } from "./vital-signs.ts";

/** An episode, all that are concerned, and the first and the last step that show it. */
function Evidence({ run, found }: { run: RunEntry; found: Finding }) {
  const { example, filter, steps, isCurrent, warnedAt, options } = found;
  const ends = [...new Set([steps[0], steps.at(-1)])].filter((step) => step !== undefined);
  return (
    <div class="row small">
      {example !== null && <a href={linkTo("episode", run.key, example)}>an episode</a>}
      {filter !== undefined && <a href={linkTo("episodes", run.key, "", filter)}>all of them</a>}
      {ends.map((step) => (
        <a key={step} href={linkTo("episodes", run.key, "", { step })}>
          step {step}
        </a>
      ))}
      {isCurrent && warnedAt !== null && <span class="dim">warned at step {warnedAt}</span>}
      {Object.entries(options).map(([key, value]) => (
        <code key={key} class="chip">
          {key}={value}
        </code>
      ))}
    </div>
  );
}

/** Its section of the documentation, read when it is opened. */
function Meaning({ doc }: { doc: string }) {
  const [isOpen, setIsOpen] = useState(false);
  const { value, error, isLoading } = useRead<{ readonly text: string }>(
    isOpen ? `/api/docs/${doc.slice(doc.indexOf("#") + 1)}` : null,
  );
  return (
    <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary class="dim small">{doc}</summary>
      {(isLoading || error !== null) && <Pending what="the documentation" error={error} />}
      {value !== null && <p class="documentation">{value.text}</p>}
    </details>
  );
}

/** Only a run that did what it was started for is called healthy. */
function NothingFound({ run }: { run: RunEntry }) {
  if (isBadEnd(run.status))
    return (
      <p class="dim">
        Why it ended is said above. Its metrics alone show no problem that a rule knows.
      </p>
    );
  if (run.steps === 0) return <p class="dim">There are no metrics yet for the rules to look at.</p>;
  return <p class="good">✓ No rule found a problem in the metrics of the last steps.</p>;
}

const marks = { problem: "✕", warning: "!", earlier: "·" } as const;

function FindingLine({ run, found }: { run: RunEntry; found: Finding }) {
  const kind = found.isCurrent ? found.severity : "earlier";
  const when = found.isCurrent ? found.severity : `earlier, at step ${found.warnedAt ?? "?"}`;
  return (
    <li class={kind}>
      <details>
        <summary>
          <span class="mark" aria-hidden="true">
            {marks[kind]}
          </span>
          <strong>
            {when}: {found.name}
          </strong>
          <span class="dim small hint">{found.evidence}</span>
        </summary>
        <div class="evidence">
          <p>{found.evidence}.</p>
          <p>{found.advice}</p>
          <Evidence run={run} found={found} />
          <Meaning doc={found.doc} />
        </div>
      </details>
    </li>
  );
}

interface SignProps {
  readonly run: RunEntry;
  readonly table: MetricTable;
  readonly sign: VitalSign;
  readonly settings: ChartSettings;
}

function SignLine({ run, table, sign, settings }: SignProps) {
  const [isOpen, setOpen] = useState(false);
  const values = table.series[sign.metric] ?? [];
  const [, last] = endsOf(values);
  return (
    <li>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <span>{sign.name}</span>
          <Sparkline values={values} />
          <span class="number">
            {sign.unit === "percent" ? percent(last) : shortNumber(last, 3)}
          </span>
        </summary>
        {isOpen && (
          <div class="evidence">
            <p class="dim">{sign.meaning}</p>
            <Chart
              title={sign.metric}
              steps={table.steps}
              lines={[{ name: sign.metric, values }]}
              height={110}
              {...settings}
              onStep={(step) => go(linkTo("episodes", run.key, "", { step }))}
            />
          </div>
        )}
      </details>
    </li>
  );
}

interface HealthProps {
  readonly run: RunEntry;
  readonly stamp: string;
  readonly table: MetricTable | null;
  readonly settings: ChartSettings;
}

export function Health({ run, stamp, table, settings }: HealthProps) {
  const { value: found, error } = useRead<readonly Finding[]>(`/api/runs/${run.key}/health`, stamp);
  const signs = table === null ? [] : vitalSigns(table);
  return (
    <section class="panel" aria-label="Health">
      <header>
        <h2>Is it healthy?</h2>
      </header>
      {found === null && <Pending what="what is wrong with the run" error={error} />}
      {found?.length === 0 && <NothingFound run={run} />}
      {found !== null && found.length > 0 && (
        <ul class="lines findings">
          {found.map((one) => (
            <FindingLine key={one.disease} run={run} found={one} />
          ))}
        </ul>
      )}
      {table !== null && signs.length > 0 && (
        <ul class="lines signs">
          {signs.map((sign) => (
            <SignLine key={sign.metric} {...{ run, table, sign, settings }} />
          ))}
        </ul>
      )}
    </section>
  );
}
