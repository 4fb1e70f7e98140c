/** The other rollouts of an episode's group, best first, and where each parts from it. */
import type { RunEntry } from "../api/runs.ts";
import type { Sibling } from "../api/conversation.ts";
import { diffLink } from "./diff-page.tsx";
import { reward, signed, whole } from "./format.ts";
import { Pending } from "./pending.tsx";
import { useRead } from "./read.ts";
import { linkTo } from "./route.ts";

interface LineProps {
  readonly run: RunEntry;
  /** Number of the episode that they are compared with. */
  readonly n: number;
  readonly sibling: Sibling;
  /** Largest distance of a reward from the mean. */
  readonly reach: number;
}

/** Left of the middle below the mean of the group, right of it above. */
function Advantage({ value, reach }: { value: number | null; reach: number }) {
  const share = value === null || reach === 0 ? 0 : value / reach;
  return (
    <span class="advantage" aria-hidden="true">
      <i
        class={share < 0 ? "less" : "more"}
        style={{ width: `${Math.abs(share) * 50}%`, left: `${share < 0 ? 50 + share * 50 : 50}%` }}
      />
    </span>
  );
}

function Line({ run, n, sibling, reach }: LineProps) {
  const { row, advantage, parting: part } = sibling;
  const isOwn = row.n === n;
  return (
    <li class={isOwn ? "own" : ""}>
      <div class="row">
        <a href={linkTo("episode", run.key, row.n)} aria-current={isOwn ? "page" : undefined}>
          {isOwn ? "this one" : `rollout ${row.rollout}`}
        </a>
        <span class={row.correct === false ? "bad" : row.correct === true ? "good" : ""}>
          {row.correct === true ? "✓ " : row.correct === false ? "✕ " : ""}
          {reward(row.reward)}
        </span>
        <Advantage value={advantage} reach={reach} />
        <span class="dim small number">{advantage === null ? "" : signed(advantage)}</span>
      </div>
      <div class="small dim row">
        <span>
          {row.calls} calls · {whole(row.responseTokens)} tokens
          {row.ended !== "completed" && ` · ${row.ended}`}
        </span>
        {!isOwn && <a href={diffLink(run.key, n, row.n)}>diff</a>}
      </div>
      {!isOwn && part === null && <div class="small dim">the same responses</div>}
      {part !== null && (
        <div class="small parting" dir="auto">
          <span class="dim">call {part.call + 1}: </span>
          <span class="dim">{part.shared}</span>
          <del>{part.own}</del> <ins>{part.other}</ins>
        </div>
      )}
    </li>
  );
}

export function Siblings({ run, n }: { run: RunEntry; n: number }) {
  const { value: siblings, error } = useRead<readonly Sibling[]>(
    `/api/runs/${run.key}/siblings/${n}`,
  );
  if (siblings === null) return <Pending what="the rollouts of the task" error={error} />;
  const reach = Math.max(...siblings.map(({ advantage }) => Math.abs(advantage ?? 0)));
  return (
    <section class="panel siblings" aria-label="Rollouts of this task">
      <header>
        <h2>
          {siblings.length === 1
            ? "The only rollout of this task"
            : `${siblings.length} rollouts of this task`}
        </h2>
        {siblings.length > 1 && (
          <a class="small" href={linkTo("group", run.key, n)}>
            all next to each other
          </a>
        )}
      </header>
      {siblings.length > 1 && (
        <>
          <p class="small dim">
            By reward; the bar is the distance to the mean of the group. <del>Only here</del>,{" "}
            <ins>only there</ins>.
          </p>
          <ol>
            {siblings.map((sibling) => (
              <Line key={sibling.row.n} {...{ run, n, sibling, reach }} />
            ))}
          </ol>
        </>
      )}
    </section>
  );
}
