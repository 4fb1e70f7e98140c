/** The report as one HTML file that loads nothing: tables, and bars as pictures. */
import { html, raw } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";
import type { Counts, CurateReport, Quantiles } from "./report.ts";

type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

const whole = (value: number): string => value.toLocaleString("en-US");

const barStyle = `.bars td:nth-child(2){width:55%}.bars svg{display:block;width:100%;height:.75rem}.bars rect{fill:var(--line1)}.bars .part{fill:var(--line2)}`;

interface Bar {
  readonly name: string;
  readonly value: number;
  /** What of it is in another color. */
  readonly part?: number;
}

function barsHtml(title: string, bars: readonly Bar[], note = ""): Html | string {
  if (bars.length === 0) return "";
  const most = Math.max(...bars.map(({ value }) => value), 1);
  return html`<section class="panel">
    <h2>${title}</h2>
    ${note === "" ? "" : html`<p class="dim small">${note}</p>`}
    <table class="list bars">
      <tbody>
        ${bars.map(
          ({ name, value, part = 0 }) =>
            html`<tr>
              <th scope="row">${name}</th>
              <td>
                <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
                  <rect width="${(100 * value) / most}" height="4" />
                  ${part === 0 ? "" : html`<rect class="part" width="${(100 * part) / most}" height="4" />`}
                </svg>
              </td>
              <td class="number">${whole(value)}${part === 0 ? "" : ` (${whole(part)})`}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </section>`;
}

const barsOf = (counts: Counts): readonly Bar[] =>
  Object.entries(counts).map(([name, value]) => ({ name, value }));

function lengthsHtml(lengths: CurateReport["lengths"]): Html {
  const columns = ["min", "p25", "median", "p75", "p95", "max"] as const;
  const names = {
    prompt: "prompt, characters",
    answer: "answer, characters",
    messages: "messages of a turn",
  };
  const rows = Object.entries(lengths) as [keyof typeof names, Quantiles | null][];
  return html`<section class="panel">
    <h2>Lengths</h2>
    <div class="scroll">
      <table class="list">
        <thead>
          <tr>
            <th scope="col"></th>
            ${columns.map((name) => html`<th scope="col" class="number">${name}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            ([name, found]) =>
              html`<tr>
                <th scope="row">${names[name]}</th>
                ${columns.map((column) => html`<td class="number">${found === null ? "–" : whole(found[column])}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </section>`;
}

/** @param style sheets of the page; those of the viewer fit */
export async function curateReportHtml(report: CurateReport, style: string): Promise<string> {
  const { rows, feedback, calls } = report;
  const files = Object.entries(rows).map(([name, { train, val }]) => ({
    name: `${name}.jsonl`,
    value: train + val,
    part: val,
  }));
  const tools = Object.entries(report.tools).map(([name, { calls: value, failed }]) => ({
    name,
    value,
    part: failed,
  }));
  const page = await html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>From production: ${report.folder}</title>
        <style>
          ${raw(style)}${raw(barStyle)}
        </style>
      </head>
      <body>
        <h1>From production</h1>
        <p class="dim">
          ${report.folder}: ${whole(report.turns)} turns of ${whole(report.conversations)}
          conversations and ${whole(report.users)} users, from ${whole(report.spans)} spans
        </p>
        ${
          report.missing.length === 0
            ? ""
            : html`<section class="panel">
                <h2>What is missing</h2>
                <ul>
                  ${report.missing.map((sentence) => html`<li>${sentence}</li>`)}
                </ul>
              </section>`
        }
        <div class="overview">
          ${barsHtml("Rows", files, "in parentheses and the other color: held out")}
          ${barsHtml("Feedback", [
            { name: "good turns", value: feedback.good },
            { name: "bad turns", value: feedback.bad },
            { name: "corrections", value: feedback.corrections },
            { name: "records", value: feedback.records },
            { name: "about a turn that is here", value: feedback.matched },
          ])}
          ${barsHtml("Turns by day", barsOf(report.days))}
          ${barsHtml("Languages", barsOf(report.languages), "by script and common words")}
          ${barsHtml("Models", barsOf(report.models))}
          ${barsHtml("Calls of tools", tools, "in parentheses and the other color: failed")}
          ${barsHtml(
            "In no file",
            barsOf({ ...report.dropped, "duplicate rows": report.duplicates }),
            "turns by reason",
          )}
          ${barsHtml("Model calls that are no turn", [
            { name: "failed", value: calls.failed },
            { name: "repeated", value: calls.retries },
            { name: "without text", value: calls.withoutText },
          ])}
          ${barsHtml(
            "Personal data replaced",
            barsOf(report.personalData),
            "different values by kind; names of people have no rule",
          )}
          ${lengthsHtml(report.lengths)}
        </div>
      </body>
    </html>`;
  return page.toString();
}
