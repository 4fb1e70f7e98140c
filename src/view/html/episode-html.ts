/**
 * One episode as HTML that needs no script. The template escapes tags of what a model wrote, and the whole text is
 * made visible at the end, so that no field can be forgotten.
 */
import { html } from "hono/html";
import type { ViewCall, ViewEpisode, ViewMessage } from "../api.ts";
import { toolCallTexts } from "../episode/conversation.ts";
import { clipText, visibleText } from "../episode/visible-text.ts";

function messageHtml(message: ViewMessage, limit: number) {
  const { role, text, name, reasoning, isToolError = false } = message;
  const title = `${role}${name === undefined ? "" : ` (${name})`}${isToolError ? ", error" : ""}`;
  const body =
    text === ""
      ? ""
      : html`<pre class="${isToolError ? "error" : role}">${clipText(text, limit)}</pre>`;
  const isFolded = role === "system" || role === "tool";
  return html`<div class="role">${title}</div>
    ${
      reasoning === undefined
        ? ""
        : html`<details>
            <summary>reasoning</summary>
            <pre>${clipText(reasoning, limit)}</pre>
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
    ${toolCallTexts(message).map((call) => html`<pre class="assistant">${clipText(call, limit)}</pre>`)}`;
}

function callHtml(call: ViewCall, limit: number) {
  const facts = [
    `call ${call.k + 1}`,
    `${call.promptTokens} prompt tokens`,
    `${call.responseTokens} response tokens`,
    call.stopReason,
    ...call.notes,
  ];
  return html`${call.break === undefined ? "" : html`<pre class="break">Prefix break: ${clipText(call.break, limit)}</pre>`}
    ${call.newMessages.map((message) => messageHtml(message, limit))}
    ${messageHtml(call.response, limit)}
    <div class="role">${facts.join(" · ")}</div>`;
}

/** @param limit characters of each text */
export async function episodeHtml(view: ViewEpisode, limit: number): Promise<string> {
  const { row, trajectories, ending, isBad, output } = view;
  const text = String(
    await html`<article id="e${row.n}">
      <h2>${row.id}</h2>
      <p class="dim">task ${row.task} · step ${row.step} · ${row.phase} · ${row.calls} calls</p>
      <p class="banner ${isBad ? "bad" : "good"}">${clipText(ending, limit)}</p>
      <details>
        <summary>conversation</summary>
        ${trajectories.map(({ name, calls }) => html`${trajectories.length > 1 ? html`<h3>${name}</h3>` : ""}${calls.map((call) => callHtml(call, limit))}`)}
        ${
          output === ""
            ? ""
            : html`<div class="role">output</div>
                <pre>${clipText(output, limit)}</pre>`
        }
      </details>
    </article> `,
  );
  return visibleText(text);
}
