/** Rounds of improvement: what came in, what was trained, what the gate said, and what users have said since. */
import type { RoundRow } from "../api/runs.ts";
import { counted, dateText, percent, reward, signed, whole } from "./format.ts";
import { Pending } from "./pending.tsx";
import { useRead } from "./read.ts";
import { linkTo } from "./route.ts";
import { TableHead } from "./table-head.tsx";

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
      {gate.verdict}
      {difference !== null && (
        <div class="small">
          {reward(difference.current)} → {reward(difference.candidate)} (
          {signed(difference.difference)}) on {counted(gate.tasks, "task")}
        </div>
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

export function RoundsPage({ stamp }: { stamp: string }) {
  const { value: rounds, error } = useRead<readonly RoundRow[]>("/api/rounds", stamp);
  if (rounds === null) return <Pending what="the rounds" error={error} />;
  return (
    <div class="stack">
      <div class="row head">
        <h1>Rounds</h1>
        <span class="dim">of agent-trainer improve, the newest first</span>
      </div>
      <section class="panel" aria-label="All rounds">
        {rounds.length === 0 && <p class="dim">There are no rounds next to these runs.</p>}
        <div class="scroll">
          <table class="runs">
            <TableHead
              columns={["round", "began", "status", "data", "trained", "gate", "users since"]}
            />
            <tbody>
              {rounds.toReversed().map((round) => (
                <tr key={`${round.startedAt}/${round.round}`}>
                  <td>{round.round}</td>
                  <td>{dateText(round.startedAt)}</td>
                  <td>
                    <span class={`pill ${pills[round.status] ?? ""}`}>{round.status}</span>
                    {round.isNewest && <div class="dim small">handed over last</div>}
                  </td>
                  <td>
                    <Data {...round} />
                  </td>
                  <td>
                    <Trained {...round} />
                  </td>
                  <td>
                    <Gate {...round} />
                  </td>
                  <td>
                    <Said {...round} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
    </div>
  );
}
