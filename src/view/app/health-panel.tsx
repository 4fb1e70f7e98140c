/** What is wrong with a run: evidence, episodes that show it, suspected options, and what the documentation says. */
import { useState } from "preact/hooks";
import type { Finding, RunEntry } from "../api.ts";
import { Pending } from "./pending.tsx";
import { isBadEnd } from "../run-status.ts";
import { useRead } from "./read.ts";
import { linkTo } from "./route.ts";

/** An episode, all that are concerned, and the first and the last step that show it. */
function Evidence({ run, found }: { run: RunEntry; found: Finding }) {
  const { example, filter, steps, isCurrent, warnedAt, options } = found;
  const ends = [...new Set([steps[0], steps.at(-1)])].filter((step) => step !== undefined);
  return (
    <div class="dim row">
      {example !== null && <a href={linkTo("episode", run.key, example)}>an episode</a>}
      {filter !== undefined && <a href={linkTo("episodes", run.key, "", filter)}>all of them</a>}
      {ends.map((step) => (
        <a key={step} href={linkTo("episodes", run.key, "", { step })}>
          step {step}
        </a>
      ))}
      {isCurrent && warnedAt !== null && <span>warned at step {warnedAt}</span>}
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
      <summary class="dim">{doc}</summary>
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
  return <p class="good">No rule found a problem in the metrics of the last steps.</p>;
}

export function Health({ run, stamp }: { run: RunEntry; stamp: string }) {
  const { value: found, error } = useRead<readonly Finding[]>(`/api/runs/${run.key}/health`, stamp);
  return (
    <section aria-label="Health">
      <h2>Health</h2>
      {found === null && <Pending what="what is wrong with the run" error={error} />}
      {found?.length === 0 && <NothingFound run={run} />}
      <ul class="findings">
        {found?.map((one) => (
          <li key={one.disease} class={one.isCurrent ? one.severity : "earlier"}>
            <strong>
              {one.isCurrent ? one.severity : `earlier, at step ${one.warnedAt ?? "?"}`}: {one.name}
            </strong>
            <br />
            {one.evidence}. {one.advice}
            <Evidence run={run} found={one} />
            <Meaning doc={one.doc} />
          </li>
        ))}
      </ul>
    </section>
  );
}
