/** Runs over seeds in one table: each setting with the mean and the range over its seeds, the best first. */
import { isBadEnd } from "../run-status.ts";
import { counted, reward } from "./format.ts";
import { OptionChips } from "./option-chips.tsx";
import type { Range, Setting } from "./settings.ts";
import { TableHead } from "./table-head.tsx";

function Spread({ of }: { of: Range | null }) {
  if (of === null) return <td class="dim">–</td>;
  const { mean, low, high } = of;
  return (
    <td class="nowrap">
      <span class="number">{mean.toFixed(3)}</span>
      {low < high && (
        <span class="dim small">
          {" "}
          {reward(low)} to {reward(high)}
        </span>
      )}
    </td>
  );
}

function Seeds({ runs }: Setting) {
  const bad = runs.filter(({ status }) => isBadEnd(status)).length;
  const running = runs.filter(({ status }) => status === "running").length;
  return (
    <td class="nowrap">
      {counted(runs.length, "seed")}
      {running > 0 && <span class="dim small">, {running} running</span>}
      {bad > 0 && <span class="bad small">, {bad} failed</span>}
    </td>
  );
}

interface SettingsProps {
  readonly settings: readonly Setting[];
  /** Of its curve; 0 for none. */
  readonly colorOf: (setting: Setting) => number;
}

export function SettingsPanel({ settings, colorOf }: SettingsProps) {
  return (
    <section class="panel" aria-label="Settings">
      <header>
        <h2>Settings</h2>
        <span class="dim small">mean and range over seeds, the best first</span>
      </header>
      {/* Nothing in it has the focus, and on a phone it is wider than the screen. */}
      <div class="scroll" tabIndex={0} role="region" aria-label="Table of settings">
        <table class="runs">
          <TableHead columns={["curve", "setting", "best validation", "last reward", "runs"]} />
          <tbody>
            {settings.map((setting) => (
              <tr key={setting.group}>
                <td>
                  <i class="swatch" data-line={colorOf(setting)} />
                </td>
                <th scope="row">
                  <OptionChips options={setting.options} />
                </th>
                <Spread of={setting.best} />
                <Spread of={setting.last} />
                <Seeds {...setting} />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
