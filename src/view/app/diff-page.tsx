/** Any two rollouts, also of two runs, with their responses aligned. */
import { useState } from "preact/hooks";
import type { RolloutView } from "../api/conversation.ts";
import type { RunEntry } from "../api/runs.ts";
import { align, type AlignedPart } from "./align.ts";
import { reward, signed } from "./format.ts";
import { useKeys } from "./keys.ts";
import { Pending } from "./pending.tsx";
import { useRead } from "./read.ts";
import type { Route } from "./parse-route.ts";
import { go, linkTo } from "./route.ts";

type Call = RolloutView["calls"][number];
const noCall: Call = { text: "", ids: [], texts: null };

function Side({ parts, side }: { parts: readonly AlignedPart[]; side: "left" | "right" }) {
  const shown = parts.filter((part) => part.side === "both" || part.side === side);
  return (
    <pre class="assistant" dir="auto">
      {shown.map((part, i) =>
        part.side === "both" ? (
          part.text
        ) : side === "left" ? (
          <del key={i}>{part.text}</del>
        ) : (
          <ins key={i}>{part.text}</ins>
        ),
      )}
    </pre>
  );
}

function AlignedCall({ k, a, b }: { k: number; a: Call | undefined; b: Call | undefined }) {
  const { parts, unit, first, isCoarse } = align(a ?? noCall, b ?? noCall);
  const one = unit === "tokens" ? "token" : "word";
  const ids = [a, b].map((call) => call?.ids[first ?? -1] ?? "none");
  return (
    <section class="panel" aria-label={`Call ${k + 1}`}>
      <h2>
        Call {k + 1}{" "}
        <span class="dim">
          {a === undefined || b === undefined
            ? "only one of them has it"
            : first === null
              ? "the same"
              : `first ${one} that differs: ${first + 1}${unit === "tokens" ? `, ids ${ids.join(" and ")}` : ""}`}
          {isCoarse && ", too different to be aligned further"}
        </span>
      </h2>
      <div class="sides">
        <Side parts={parts} side="left" />
        <Side parts={parts} side="right" />
      </div>
    </section>
  );
}

function About({ run, view, name }: { run: RunEntry; view: RolloutView; name: string }) {
  const { row } = view;
  return (
    <p>
      <strong>{name}</strong> <a href={linkTo("episode", run.key, row.n)}>{row.id}</a>{" "}
      <span class={row.correct === false ? "bad" : ""}>reward {reward(row.reward)}</span>{" "}
      <span class="dim">
        {run.name} · {row.ended} · {row.calls} calls
      </span>
    </p>
  );
}

interface ChoiceProps {
  readonly runs: readonly RunEntry[];
  readonly label: string;
  readonly run: number;
  readonly id: string;
  readonly onChange: (run: number, id: string) => void;
}

function Choice({ runs, label, run, id, onChange }: ChoiceProps) {
  return (
    <span class="row">
      {runs.length > 1 && (
        <select
          aria-label={`Run of the ${label} episode`}
          value={String(run)}
          onChange={(event) => onChange(Number(event.currentTarget.value), id)}
        >
          {runs.map(({ key, name }) => (
            <option key={key} value={String(key)}>
              {name}
            </option>
          ))}
        </select>
      )}
      <input
        aria-label={`Id or number of the ${label} episode`}
        value={id}
        placeholder="id or number"
        onChange={(event) => onChange(run, event.currentTarget.value.trim())}
      />
    </span>
  );
}

/** Address of the comparison of two episodes. */
export const diffLink = (
  run: number,
  id: string | number,
  other: string | number,
  otherRun: number = run,
): string => linkTo("diff", run, id, { with: String(other), in: String(otherRun) });

export function DiffPage({ runs, route }: { runs: readonly RunEntry[]; route: Route }) {
  const { filter, id } = route;
  const [otherRun, other] = [Number(filter["in"] ?? route.run), filter["with"] ?? ""];
  const [isSwapped, setSwapped] = useState(false);
  const read = (run: number, name: string): string | null =>
    name === "" ? null : `/api/runs/${run}/episodes/${encodeURIComponent(name)}/responses`;
  const left = useRead<RolloutView>(read(route.run, id));
  const right = useRead<RolloutView>(read(otherRun, other));
  useKeys({ Escape: () => history.back(), s: () => setSwapped(!isSwapped) });
  const [runA, runB] = [route.run, otherRun].map((key) => runs.find((run) => run.key === key));
  const error = left.error ?? right.error;
  const [a, b] = isSwapped ? [right.value, left.value] : [left.value, right.value];
  const [nameA, nameB] = isSwapped ? [runB, runA] : [runA, runB];
  return (
    <div class="stack">
      <h1>Two rollouts</h1>
      <div class="row">
        <Choice
          runs={runs}
          label="first"
          run={route.run}
          id={id}
          onChange={(run, name) => go(diffLink(run, name, other, otherRun))}
        />
        <Choice
          runs={runs}
          label="second"
          run={otherRun}
          id={other}
          onChange={(run, name) => go(diffLink(route.run, id, name, run))}
        />
        <button type="button" onClick={() => setSwapped(!isSwapped)}>
          Swap
        </button>
      </div>
      {(error !== null || left.isLoading || right.isLoading) && (
        <Pending what="the rollouts" error={error} />
      )}
      {id === "" && <p class="dim">Name a first episode.</p>}
      {other === "" && <p class="dim">Name a second episode.</p>}
      {a !== null && b !== null && nameA !== undefined && nameB !== undefined && (
        <>
          <div class="sides">
            <About run={nameA} view={a} name="A" />
            <About run={nameB} view={b} name="B" />
          </div>
          {a.row.reward !== null && b.row.reward !== null && (
            <p class="dim">
              Reward of B less that of A: {signed(b.row.reward - a.row.reward)}. Struck out: only in
              A; underlined: only in B.
            </p>
          )}
          {Array.from({ length: Math.max(a.calls.length, b.calls.length) }, (_, k) => (
            <AlignedCall key={k} k={k} a={a.calls[k]} b={b.calls[k]} />
          ))}
        </>
      )}
    </div>
  );
}
