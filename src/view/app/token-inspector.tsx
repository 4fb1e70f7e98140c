/** The sampled tokens of one call as a heat-map of their log-probabilities, with one token in detail. */
import { useState } from "preact/hooks";
import type { TokenView } from "../api.ts";
import { visibleText } from "../episode/visible-text.ts";
import { shortNumber, whole } from "./format.ts";
import { useRead } from "./read.ts";

/** Tokens that are shown; more would make the page slow. */
const mostTokens = 4000;
const levels = 6;

/** From 0 (certain) to `levels` - 1 (below 0.4 %). */
const level = (logprob: number | undefined): number =>
  logprob === undefined ? 0 : Math.min(levels - 1, Math.floor(-logprob));

const label = (texts: readonly string[] | null, ids: readonly number[], at: number): string => {
  const text = texts?.[at];
  return text === undefined || text === ""
    ? String(ids[at])
    : visibleText(text).replaceAll("\n", "⏎");
};

function Detail({ tokens, at }: { tokens: TokenView; at: number }) {
  const { responseIds, responseTexts, logprobs, temperedLogprobs, logprobKind, untrained } = tokens;
  const logprob = logprobs[at];
  const rows: readonly (readonly [string, string])[] = [
    ["position", `${at + 1} of ${responseIds.length}`],
    ["id", String(responseIds[at])],
    [
      "text",
      responseTexts === null
        ? "the model's tokenizer is not on this machine"
        : JSON.stringify(visibleText(responseTexts[at] ?? "")),
    ],
    [
      `logprob at sampling (${logprobKind})`,
      logprob === undefined
        ? "–"
        : `${logprob.toFixed(5)} (${shortNumber(100 * Math.exp(logprob))} %)`,
    ],
    ...(temperedLogprobs === null
      ? []
      : [["logprob at the sampling temperature", shortNumber(temperedLogprobs[at])] as const]),
    ["mask", untrained.length === 0 ? "1: nothing recorded excludes it" : "0: not trained"],
  ];
  return (
    <table aria-live="polite">
      <tbody>
        {rows.map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function leastLikely(logprobs: readonly number[]): number {
  return logprobs.reduce((least, value, at) => (value < (logprobs[least] ?? 0) ? at : least), 0);
}

export function TokenInspector({ run, n, call }: { run: number; n: number; call: number }) {
  const [chosen, setChosen] = useState(0);
  const { value: tokens, error } = useRead<TokenView>(
    `/api/runs/${run}/episodes/${n}/tokens?call=${call}`,
  );
  if (error !== null) return <p role="alert">{error}</p>;
  if (tokens === null) return <p class="dim">Loading tokens …</p>;
  const { promptIds, promptTexts, responseIds, responseTexts, logprobs, untrained } = tokens;
  return (
    <section class="tokens" aria-label={`Tokens of call ${call + 1}`}>
      {untrained.map((reason) => (
        <p key={reason} class="banner bad">
          Not trained: {visibleText(reason)}
        </p>
      ))}
      <details>
        <summary>
          {whole(promptIds.length)} prompt tokens (never trained in this call: the model did not
          write them here)
        </summary>
        <p class="token-list">
          {promptIds.slice(0, mostTokens).map((id, at) => (
            <span key={at} class="token" title={`id ${id}`}>
              {label(promptTexts, promptIds, at)}
            </span>
          ))}
        </p>
      </details>
      <p class="token-list">
        {responseIds.slice(0, mostTokens).map((id, at) => (
          <button
            key={at}
            type="button"
            class={`token heat${level(logprobs[at])}${at === chosen ? " selected" : ""}`}
            aria-pressed={at === chosen}
            title={`id ${id}, logprob ${shortNumber(logprobs[at])}`}
            onClick={() => setChosen(at)}
          >
            {label(responseTexts, responseIds, at)}
          </button>
        ))}
      </p>
      {responseIds.length > mostTokens && (
        <p class="dim">
          The first {whole(mostTokens)} of {whole(responseIds.length)} tokens are shown.
        </p>
      )}
      <p class="row">
        <span class="legend" aria-hidden="true">
          {Array.from({ length: levels }, (_, i) => (
            <span key={i} class={`token heat${i}`}>
              {i === 0 ? "likely" : `≤ e⁻${"⁰¹²³⁴⁵"[i]}`}
            </span>
          ))}
        </span>
        <button type="button" onClick={() => setChosen(leastLikely(logprobs))}>
          Least likely token
        </button>
      </p>
      {responseIds.length > 0 && (
        <Detail tokens={tokens} at={Math.min(chosen, responseIds.length - 1)} />
      )}
      <p class="dim">The run records no {tokens.notRecorded.join(", no ")}.</p>
    </section>
  );
}
