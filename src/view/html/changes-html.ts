/** The tasks that changed the most, before and now, side by side. */
import { html } from "hono/html";
import type { RunChanges } from "../api/tasks.ts";
import type { ViewEpisode } from "../api/conversation.ts";
import { briefLines, briefSigns } from "../brief.ts";
import { clipText } from "../episode/visible-text.ts";
import type { Html } from "./chart.ts";

const [maxTasks, maxLines, maxCharacters] = [3, 10, 300];

/** Empty where no task was tried twice. */
export function changesHtml(
  changes: RunChanges,
  episode: (n: number) => ViewEpisode | null,
): Html | string {
  if (changes === null) return "";
  const { better, worse, same, fromStep, toStep, phase, tasks } = changes;
  const side = (title: string, { n, reward }: { readonly n: number; readonly reward: number }) => {
    const view = episode(n);
    const lines = view === null ? [] : briefLines(view).slice(0, maxLines);
    return html`<div>
      <h3>${title}: reward ${Number(reward.toFixed(3))}</h3>
      <pre>
${lines.map(([what, text]) => `${briefSigns[what]} ${clipText(text, maxCharacters)}`).join("\n")}</pre>
    </div>`;
  };
  return html`<section class="panel">
    <h2>What changed?</h2>
    <p class="dim small">
      ${phase} tasks, step ${fromStep} to ${toStep}: ${better} better, ${worse} worse, ${same} the
      same
    </p>
    ${tasks.slice(0, maxTasks).map(
      ({ task, question, before, now }) =>
        html`<h3>${question === "" ? task : question}</h3>
          <div class="sides">${side("before", before)} ${side("now", now)}</div>`,
    )}
  </section>`;
}
