/** Rounds of improvement: what came in, what was trained, what the gate said, and what users have said since. */
import type { RoundRow } from "../api/runs.ts";
import { counted, dateText, percent, reward, signed, whole } from "./format.ts";
import { Pending } from "./pending.tsx";
import { useRead } from "./read.ts";
import { linkTo } from "./route.ts";

const pills: Readonly<Partial<Record<RoundRow["status"], string>>> = {
  running: "running",
  "handed over": "good",
  refused: "bad",
};

function Data({ curate }: RoundRow) {
  if (curate === null) return <>–</>;
  const { conversations, good, bad, corrections, rows } = curate;
  return (
    <>
      {counted(conversations, "conversation")}
      <div class="dim small">
        {whole(good)} good, {whole(bad)} bad
        {corrections === 0 ? "" : `, ${counted(corrections, "correction")}`};{" "}
        {counted(rows.train, "row")}
      </div>
    </>
  );
}

function Trained({ train, run }: RoundRow) {
  if (train === null) return <>–</>;
  const text = `${train.with}, ${counted(train.steps, "step")}`;
  return (
    <>
      {run === null ? text : <a href={linkTo("run", run)}>{text}</a>}
      <div class="dim small">{train.candidate.version ?? train.candidate.model}</div>
    </>
  );
}

function Gate({ gate }: RoundRow) {
  if (gate === null) return <>–</>;
  const { difference, misses } = gate;
  return (
    <>
      <span class={gate.verdict === "better" ? "good" : "bad"}>{gate.verdict}</span>
      {difference !== null && (
        <>
          : {reward(difference.current)} → {reward(difference.candidate)} (
          {signed(difference.difference)}) <span class="dim">on {counted(gate.tasks, "task")}</span>
        </>
      )}
      {misses.map(({ message }) => (
        <div key={message} class="dim small">
          {message}
        </div>
      ))}
    </>
  );
}

/** Of all that was said about the version, whether it is in use, was tried or was rolled back. */
function Said({ feedback }: RoundRow) {
  if (feedback === null || feedback.n === 0) return <>–</>;
  return (
    <>
      {percent(feedback.sum / feedback.n)}
      <div class="dim small">of {whole(feedback.n)} good</div>
    </>
  );
}

/** One round, as wide as the screen allows. */
function RoundCard({ round }: { round: RoundRow }) {
  return (
    <section class="panel" aria-label={`Round ${round.round}`}>
      <header>
        <h2>Round {round.round}</h2>
        <span class={`pill status ${pills[round.status] ?? ""}`}>{round.status}</span>
        {round.isNewest && <span class="chip">in use: handed over last</span>}
        <span class="dim small">{dateText(round.startedAt)}</span>
      </header>
      <dl class="facts">
        <div class={round.curate === null ? "none" : ""}>
          <dt>data</dt>
          <dd>
            <Data {...round} />
          </dd>
        </div>
        <div class={round.train === null ? "none" : ""}>
          <dt>trained</dt>
          <dd>
            <Trained {...round} />
          </dd>
        </div>
        <div class={round.gate === null ? "wide none" : "wide"}>
          <dt>gate</dt>
          <dd>
            <Gate {...round} />
          </dd>
        </div>
        <div class={round.feedback === null ? "none" : ""}>
          <dt>users since</dt>
          <dd>
            <Said {...round} />
          </dd>
        </div>
      </dl>
    </section>
  );
}

/** `2 handed over, 1 refused`, in the order in which they appear. */
function ends(rounds: readonly RoundRow[]): string {
  const counts = new Map<string, number>();
  for (const { status } of rounds) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${count} ${status}`).join(", ");
}

export function RoundsPage({ stamp }: { stamp: string }) {
  const { value: rounds, error } = useRead<readonly RoundRow[]>("/api/rounds", stamp);
  if (rounds === null) return <Pending what="the rounds" error={error} />;
  return (
    <div class="stack">
      <div class="row head">
        <h1>Rounds</h1>
        <span class="dim">of agent-trainer improve, the newest first</span>
        <span class="dim small">{ends(rounds)}</span>
      </div>
      {rounds.length === 0 && (
        <section class="panel">
          <p class="dim">There are no rounds next to these runs.</p>
        </section>
      )}
      {rounds.toReversed().map((round) => (
        <RoundCard key={`${round.startedAt}/${round.round}`} round={round} />
      ))}
    </div>
  );
}
