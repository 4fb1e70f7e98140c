/** All runs: states, dates, what differs between them; their curves in one chart, and whether the difference is real. */
import { useState } from "preact/hooks";
import type { RoundRow, RunEntry } from "../api/runs.ts";
import type { RunsApart } from "../api/comparisons.ts";
import { useChartSettings } from "./chart-settings.tsx";
import { Curves } from "./curves-panel.tsx";
import { Differences } from "./differences.tsx";
import { useKeys } from "./keys.ts";
import { colorOf, fitting, haveSeeds } from "./overlaid.ts";
import { useRead } from "./read.ts";
import { useRemembered } from "./remember.ts";
import { go, linkTo } from "./route.ts";
import { RunRow } from "./run-row.tsx";
import { useSelection } from "./selection.tsx";
import { settingsOf } from "./settings.ts";
import { SettingsPanel } from "./settings-panel.tsx";
import { TableHead } from "./table-head.tsx";

export function RunsPage({ runs }: { runs: readonly RunEntry[] }) {
  const [chosen, setChosen] = useState<readonly number[] | null>(null);
  const { value: apart } = useRead<RunsApart>("/api/apart", runs.length);
  const { value: rounds } = useRead<readonly RoundRow[]>("/api/rounds", runs.length);
  const [keptApart, setApart] = useRemembered("seeds-apart");
  const controls = useChartSettings();
  const bySeeds = keptApart === "" ? apart : null;
  const wanted = chosen?.flatMap((key) => runs.filter((run) => run.key === key));
  // The oldest choices make room.
  const curves =
    wanted === undefined
      ? fitting(runs, bySeeds)
      : fitting(wanted.toReversed(), bySeeds).toReversed();
  const overlaid = curves.map(({ key }) => key);
  const toggle = (key: number): void =>
    setChosen(overlaid.includes(key) ? overlaid.filter((one) => one !== key) : [...overlaid, key]);
  const selected = useSelection("", runs, ({ key }) => go(linkTo("run", key)));
  useKeys({
    x: () => {
      const run = runs[selected];
      if (run !== undefined) toggle(run.key);
    },
  });
  const joined = haveSeeds(curves, bySeeds) ? bySeeds : null;
  // Runs over seeds are read by their settings; the runs, which may be many, come after them.
  const settings = settingsOf(runs, joined);
  const overlay = (
    <Curves
      runs={curves}
      all={runs.length}
      joined={joined}
      onJoin={haveSeeds(curves, apart) ? (isJoined) => setApart(isJoined ? "" : "1") : null}
      controls={controls}
    />
  );
  return (
    <div class="stack">
      <div class="row head">
        <h1>Runs</h1>
        {rounds !== null && rounds.length > 0 && <a href="#/rounds">Rounds</a>}
        <span class="dim small keys">
          <kbd>j</kbd> <kbd>k</kbd> select, <kbd>Enter</kbd> opens, <kbd>x</kbd> overlays
        </span>
      </div>
      {settings.length > 0 && (
        <>
          <SettingsPanel
            settings={settings}
            colorOf={({ runs: [first] }) =>
              first === undefined ? 0 : colorOf(first, curves, joined)
            }
          />
          {overlay}
        </>
      )}
      <section class="panel" aria-label="All runs">
        <div class="scroll">
          <table class="runs">
            <TableHead
              columns={[
                "curve",
                "run",
                "status",
                "written",
                "steps",
                "reward",
                "what differs",
                "health",
                "episodes",
              ]}
            />
            <tbody>
              {runs.map((run, i) => (
                <RunRow
                  key={run.key}
                  run={run}
                  isSelected={i === selected}
                  apart={apart}
                  color={colorOf(run, curves, joined)}
                  onOverlay={() => toggle(run.key)}
                />
              ))}
            </tbody>
          </table>
        </div>
      </section>
      {settings.length === 0 && overlay}
      <Differences runs={runs} />
    </div>
  );
}
