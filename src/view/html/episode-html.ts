/**
 * One episode as HTML that needs no script. The template escapes tags of what a model wrote, and the whole text is
 * made visible at the end, so that no field can be forgotten.
 */
import { html } from "hono/html";
import type { ToolCall } from "../../core/message.ts";
import type { ViewCall, ViewEpisode, ViewMessage } from "../api/conversation.ts";
import { clipText, visibleText } from "../episode/visible-text.ts";
import { type PairedResults, pairResults } from "../tool-results.ts";

function cardHtml(call: ToolCall, result: ViewMessage | undefined, limit: number) {
  const isFailed = result?.isToolError === true;
  return html`<div class="tool-card ${isFailed ? "failed" : ""}">
    <header>
      <strong>${call.name}</strong>
      <span class="state ${isFailed ? "bad" : ""}"
        >${isFailed ? "✕ error" : result === undefined ? "no result" : "✓ returned"}</span
      >
    </header>
    <div class="parts">
      <h3>arguments</h3>
      <pre>${clipText(call.arguments, limit)}</pre>
      ${
        result === undefined
          ? ""
          : html`<h3>result</h3>
              <pre>${clipText(result.text, limit)}</pre>`
      }
    </div>
  </div>`;
}

type Results = PairedResults["byCall"];

function messageHtml(message: ViewMessage, limit: number, results: Results = new Map()) {
  const { role, text, name, reasoning, isToolError = false, toolCalls = [] } = message;
  const title = `${role}${name === undefined ? "" : ` (${name})`}${isToolError ? ", error" : ""}`;
  const body =
    text === ""
      ? ""
      : html`<pre class="${isToolError ? "error" : role}">${clipText(text, limit)}</pre>`;
  const isFolded = role === "system" || role === "tool";
  return html`<div class="message ${role}">
    <div class="role">${title}</div>
    ${
      reasoning === undefined
        ? ""
        : html`<details>
            <summary>reasoning</summary>
            <pre class="reasoning">${clipText(reasoning, limit)}</pre>
          </details>`
    }
    ${
      isFolded && body !== ""
        ? html`<details>
            <summary>${clipText(text.slice(0, 80), 80)}</summary>
            ${body}
          </details>`
        : body
    }
    ${toolCalls.map((call) => cardHtml(call, results.get(call.id), limit))}
  </div>`;
}

function callHtml(call: ViewCall, limit: number, { byCall, paired }: PairedResults) {
  const facts = [
    `call ${call.k + 1}`,
    `${call.promptTokens} prompt tokens`,
    `${call.responseTokens} response tokens`,
    call.stopReason,
    ...call.notes,
  ];
  const shown = call.newMessages.filter((message) => !paired.has(message));
  return html`<div class="call">
    ${call.break === undefined ? "" : html`<pre class="break">Prefix break: ${clipText(call.break, limit)}</pre>`}
    ${shown.map((message) => messageHtml(message, limit))}
    ${messageHtml(call.response, limit, byCall)}
    <div class="facts dim">${facts.join(" · ")}</div>
  </div>`;
}

function outcomeHtml(
  { expected, output, ending, isBad, isCorrect, reward }: ViewEpisode,
  limit: number,
) {
  const verdict = isCorrect === null ? "" : isCorrect ? "✓ correct" : "✕ incorrect";
  return html`<div class="panel outcome ${isBad ? "bad" : "good"}">
    ${
      expected === null
        ? ""
        : html`<div>
            <h3>Expected</h3>
            <div class="answer">${clipText(expected, limit)}</div>
          </div>`
    }
    ${
      output === ""
        ? ""
        : html`<div>
            <h3>Got <span class="${isCorrect === false ? "bad" : "good"}">${verdict}</span></h3>
            <div class="answer">${clipText(output, limit)}</div>
          </div>`
    }
    <div>
      <h3>Reward</h3>
      <span class="figure">${reward === null ? "–" : Number(reward.toFixed(3))}</span>
    </div>
    <p class="ending small ${isBad ? "bad" : "dim"}">${clipText(ending, limit)}</p>
  </div>`;
}

/** @param limit characters of each text */
export async function episodeHtml(view: ViewEpisode, limit: number): Promise<string> {
  const { row, trajectories, instruction } = view;
  const question = clipText(instruction, Math.min(limit, 200));
  const text = String(
    await html`<article id="e${row.n}">
      <h2>${question === "" ? row.id : question}</h2>
      <p class="dim small">
        ${row.id} · task ${row.task} · step ${row.step} · ${row.phase} · ${row.calls} calls
      </p>
      ${outcomeHtml(view, limit)}
      <details>
        <summary>conversation</summary>
        ${trajectories.map(({ name, calls }) => {
          const results = pairResults(calls);
          return html`<div class="conversation">
            ${trajectories.length > 1 ? html`<h3>${name}</h3>` : ""}${calls.map((call) => callHtml(call, limit, results))}
          </div>`;
        })}
      </details>
    </article> `,
  );
  return visibleText(text);
}
