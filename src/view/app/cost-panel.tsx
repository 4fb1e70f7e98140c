/** What did it cost? Time, tokens and money; of the run, and of what was gained. */
import type { RunCost } from "../api/runs.ts";
import { duration, rough, signed } from "./format.ts";

const money = (usd: number): string => `$${usd < 0.1 ? usd.toPrecision(2) : usd.toFixed(2)}`;

export function CostPanel({ cost }: { cost: RunCost }) {
  if (cost === null) return null;
  const { seconds, tokens, usd, perPoint, gain, metric } = cost;
  const columns = [
    ["time", duration(seconds), perPoint === null ? null : duration(perPoint.seconds)],
    ["tokens", rough(tokens), perPoint === null ? null : rough(perPoint.tokens)],
    ...(usd === null
      ? []
      : [["money", money(usd), perPoint?.usd == null ? null : money(perPoint.usd)] as const]),
  ] as const;
  return (
    <section class="panel" aria-label="Cost" title={cost.text}>
      <header>
        <h2>What did it cost?</h2>
      </header>
      <div class="row figures">
        {columns.map(([name, all, each]) => (
          <div key={name} class="figure-block">
            <h3>{name}</h3>
            <span class="figure">{all}</span>
            {each !== null && <span class="dim">{each} per 0.01</span>}
          </div>
        ))}
      </div>
      <p class="dim small">
        for {signed(gain)} of <code>{metric}</code>
      </p>
    </section>
  );
}
