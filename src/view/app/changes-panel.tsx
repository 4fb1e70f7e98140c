/** What changed? One task before training and now, side by side. */
import { useState } from "preact/hooks";
import type { ChangedTask, RunChanges } from "../api/tasks.ts";
import type { RunEntry } from "../api/runs.ts";
import type { ViewEpisode } from "../api/conversation.ts";
import { briefLines, briefSigns } from "../brief.ts";
import { clipText } from "../episode/visible-text.ts";
import { diffLink } from "./diff-page.tsx";
import { reward, signed } from "./format.ts";
import { Pending } from "./pending.tsx";
import { useRead } from "./read.ts";
import { linkTo } from "./route.ts";

/** Enough to see what it did; the episode has all of it. */
const maxLines = 10;
const maxCharacters = 400;

interface SideProps {
  readonly run: RunEntry;
  readonly title: string;
  readonly n: number;
  readonly earned: number;
  /** Of the other side. */
  readonly other: number;
}

function Side({ run, title, n, earned, other }: SideProps) {
  const { value: view, error } = useRead<ViewEpisode>(`/api/runs/${run.key}/episodes/${n}`);
  const kind = earned > other ? "good" : earned < other ? "bad" : "dim";
  const lines = view === null ? [] : briefLines(view);
  return (
    <div class="side">
      <header class="row">
        <h3>{title}</h3>
        <span class={kind}>
          {view?.isCorrect === true ? "✓ " : view?.isCorrect === false ? "✕ " : ""}reward{" "}
          {reward(earned)}
        </span>
        <a class="small" href={linkTo("episode", run.key, n)}>
          open
        </a>
      </header>
      {view === null && <Pending what="the episode" error={error} />}
      <ol class="brief">
        {lines.slice(0, maxLines).map(([what, text], i) => (
          <li key={i} class={what}>
            <span aria-hidden="true">{briefSigns[what]}</span>
            <span dir="auto">{clipText(text, maxCharacters)}</span>
          </li>
        ))}
      </ol>
      {lines.length > maxLines && <p class="dim small">and {lines.length - maxLines} more</p>}
    </div>
  );
}

const gainOf = ({ before, now }: ChangedTask): number => now.reward - before.reward;

export function ChangesPanel({ run, stamp }: { run: RunEntry; stamp: string }) {
  const [at, setAt] = useState(0);
  const { value, error, isLoading } = useRead<RunChanges>(`/api/runs/${run.key}/changes`, stamp);
  if (isLoading || error !== null) return <Pending what="what changed" error={error} />;
  const task = value?.tasks[Math.min(at, value.tasks.length - 1)];
  if (value === null || task === undefined)
    return (
      <section class="panel" aria-label="Changes">
        <h2>What changed?</h2>
        <p class="dim">No task has been tried at two steps yet: validations show it first.</p>
      </section>
    );
  const { tasks, better, worse, same, phase, fromStep, toStep } = value;
  return (
    <section class="panel changes" aria-label="Changes">
      <header>
        <h2>What changed?</h2>
        <span class="dim small">
          {phase === "train" ? "training tasks" : `${phase} tasks`}, step {fromStep} to {toStep}:{" "}
          <span class="good">▲ {better} better</span>,{" "}
          <span class={worse > 0 ? "bad" : ""}>▼ {worse} worse</span>, {same} the same
        </span>
        <span class="row end">
          <button
            type="button"
            class="plain"
            disabled={at === 0}
            aria-label="Task before"
            onClick={() => setAt(at - 1)}
          >
            ←
          </button>
          <span class="small number">
            {at + 1} of {tasks.length}
          </span>
          <button
            type="button"
            class="plain"
            disabled={at >= tasks.length - 1}
            aria-label="Next task"
            onClick={() => setAt(at + 1)}
          >
            →
          </button>
          <a class="small" href={linkTo("tasks", run.key)}>
            all tasks by steps
          </a>
        </span>
      </header>
      <p class="question" dir="auto">
        {task.question === "" ? task.task : task.question}{" "}
        <span class={gainOf(task) >= 0 ? "good small" : "bad small"}>{signed(gainOf(task))}</span>{" "}
        <a class="small" href={diffLink(run.key, task.before.n, task.now.n)}>
          diff
        </a>
      </p>
      <div class="sides">
        <Side
          key={`before/${task.before.n}`}
          run={run}
          title={phase === "train" ? "Before" : `Before, step ${fromStep}`}
          n={task.before.n}
          earned={task.before.reward}
          other={task.now.reward}
        />
        <Side
          key={`now/${task.now.n}`}
          run={run}
          title={phase === "train" ? "Now" : `Now, step ${toStep}`}
          n={task.now.n}
          earned={task.now.reward}
          other={task.before.reward}
        />
      </div>
    </section>
  );
}
