/** The sampled tokens of one call, coloured by what is known of them, with one token in detail. */
import { useState } from "preact/hooks";
import type { TokenView } from "../api/conversation.ts";
import { shortNumber, whole } from "./format.ts";
import { Pending } from "./pending.tsx";
import { useRead } from "./read.ts";
import { largest, logRatios, quantitiesOf } from "./token-quantities.ts";

/** Tokens that are shown; more would make the page slow. */
const maxTokens = 4000;

const label = (texts: readonly string[] | null, ids: readonly number[], at: number): string => {
  const text = texts?.[at];
  return text === undefined || text === "" ? String(ids[at]) : text.replaceAll("\n", "⏎");
};

const logprobText = (value: number | undefined): string =>
  value === undefined ? "–" : `${value.toFixed(5)} (${shortNumber(100 * Math.exp(value))} %)`;

type Rows = readonly (readonly [string, string])[];

function trainedRows(tokens: TokenView, at: number): Rows {
  const { trained } = tokens;
  if (trained === null) return [];
  const ratio = logRatios(tokens)?.[at];
  const { step, temperature, logprobs, reference, entropy, advantages, weights } = trained;
  return [
    [`logprob at training (step ${step}, temperature ${temperature})`, logprobText(logprobs[at])],
    ...(ratio === undefined
      ? []
      : [["importance ratio, training / sampling", shortNumber(Math.exp(ratio))] as const]),
    ...(reference === null
      ? []
      : [["logprob under the reference", logprobText(reference[at])] as const]),
    ...(entropy === null ? [] : [["entropy", `${shortNumber(entropy[at])} nats`] as const]),
    ["advantage", shortNumber(advantages[at])],
    ...(weights === null ? [] : [["weight", shortNumber(weights[at])] as const]),
  ];
}

function maskText({ trained, untrained }: TokenView, at: number): string {
  if (trained !== null)
    return trained.mask[at] === 0
      ? `0: rejected by rollout correction in step ${trained.step}`
      : `1: trained in step ${trained.step}${trained.advantages[at] === 0 ? ", with the advantage 0" : ""}`;
  return untrained.length === 0 ? "1: nothing recorded excludes it" : "0: not trained";
}

function Detail({ tokens, at }: { tokens: TokenView; at: number }) {
  const { responseIds, responseTexts, logprobs, temperedLogprobs, logprobKind } = tokens;
  const rows: Rows = [
    ["position", `${at + 1} of ${responseIds.length}`],
    ["id", String(responseIds[at])],
    [
      "text",
      responseTexts === null
        ? "the model's tokenizer is not on this machine"
        : JSON.stringify(responseTexts[at] ?? ""),
    ],
    [`logprob at sampling (${logprobKind})`, logprobText(logprobs[at])],
    ...(temperedLogprobs === null
      ? []
      : [["logprob at the sampling temperature", shortNumber(temperedLogprobs[at])] as const]),
    ...trainedRows(tokens, at),
    ["mask", maskText(tokens, at)],
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

interface SampledProps {
  readonly tokens: TokenView;
  readonly chosen: number;
  readonly onChoose: (at: number) => void;
}

/** The sampled tokens with what they are coloured by. */
function Sampled({ tokens, chosen, onChoose }: SampledProps) {
  const [wanted, setWanted] = useState("");
  const { responseIds, responseTexts } = tokens;
  const quantities = quantitiesOf(tokens);
  const shown = quantities.find(({ name }) => name === wanted) ?? quantities[0];
  const ratios = logRatios(tokens);
  if (shown === undefined) return null;
  return (
    <>
      <p class="token-list">
        {responseIds.slice(0, maxTokens).map((id, at) => (
          <button
            key={at}
            type="button"
            class={`token ${shown.heat(shown.values[at] ?? 0)}${at === chosen ? " selected" : ""}`}
            aria-pressed={at === chosen}
            title={`id ${id}, ${shown.name} ${shortNumber(shown.values[at])}`}
            onClick={() => onChoose(at)}
          >
            {label(responseTexts, responseIds, at)}
          </button>
        ))}
      </p>
      {responseIds.length > maxTokens && (
        <p class="dim">
          The first {whole(maxTokens)} of {whole(responseIds.length)} tokens are shown.
        </p>
      )}
      <p class="row">
        <label>
          Coloured by{" "}
          <select value={shown.name} onChange={(event) => setWanted(event.currentTarget.value)}>
            {quantities.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <span class="legend" aria-hidden="true">
          {shown.legend.map(([heat, text]) => (
            <span key={heat} class={`token ${heat}`}>
              {text}
            </span>
          ))}
        </span>
        <button type="button" onClick={() => onChoose(largest(tokens.logprobs, (one) => -one))}>
          Least likely token
        </button>
        {ratios !== null && (
          <button type="button" onClick={() => onChoose(largest(ratios, Math.abs))}>
            Largest gap between sampling and training
          </button>
        )}
      </p>
    </>
  );
}

export function TokenInspector({ run, n, call }: { run: number; n: number; call: number }) {
  const [chosen, setChosen] = useState(0);
  const { value: tokens, error } = useRead<TokenView>(
    `/api/runs/${run}/episodes/${n}/tokens?call=${call}`,
  );
  if (tokens === null) return <Pending what="the tokens" error={error} />;
  const { promptIds, promptTexts, responseIds, untrained } = tokens;
  return (
    <section class="tokens" aria-label={`Tokens of call ${call + 1}`}>
      {untrained.map((reason) => (
        <p key={reason} class="banner bad">
          Not trained: {reason}
        </p>
      ))}
      <details>
        <summary>
          {whole(promptIds.length)} prompt tokens (never trained in this call: the model did not
          write them here)
        </summary>
        <p class="token-list">
          {promptIds.slice(0, maxTokens).map((id, at) => (
            <span key={at} class="token" title={`id ${id}`}>
              {label(promptTexts, promptIds, at)}
            </span>
          ))}
        </p>
      </details>
      <Sampled tokens={tokens} chosen={chosen} onChoose={setChosen} />
      {responseIds.length > 0 && (
        <Detail tokens={tokens} at={Math.min(chosen, responseIds.length - 1)} />
      )}
      {tokens.notRecorded.map((reason) => (
        <p key={reason} class="dim">
          {reason}
        </p>
      ))}
    </section>
  );
}
