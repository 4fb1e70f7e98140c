/** The rollouts of one task in one step, side by side. */
import { useState } from "preact/hooks";
import type { GroupMember } from "../api/conversation.ts";
import type { RunEntry } from "../api/runs.ts";
import { diffLink } from "./diff-page.tsx";
import { reward, signed } from "./format.ts";
import { useKeys } from "./keys.ts";
import { Pending } from "./pending.tsx";
import { useRead } from "./read.ts";
import { go, linkTo } from "./route.ts";

function Calls({ member }: { member: GroupMember }) {
  const { calls, firstDifference } = member;
  return (
    <>
      {calls.map(({ text, ids, texts }, k) => {
        const at = firstDifference?.call === k ? firstDifference.token : null;
        if (texts === null || at === null)
          return (
            <pre key={k} class="assistant" dir="auto">
              {text}
              {at !== null && `\n[first difference: token ${at + 1}, id ${ids[at] ?? "none"}]`}
            </pre>
          );
        return (
          <pre key={k} class="assistant" dir="auto">
            {texts.slice(0, at).join("")}
            <mark title={`First token that differs: ${at + 1}, id ${ids[at] ?? "none"}`}>
              {texts[at] ?? "∎"}
            </mark>
            {texts.slice(at + 1).join("")}
          </pre>
        );
      })}
    </>
  );
}

interface PairProps {
  readonly members: readonly GroupMember[];
  readonly pair: readonly [number, number];
  readonly onChoose: (pair: readonly [number, number]) => void;
  readonly onOpen: () => void;
}

/** Which two are compared: indices of members. */
function Pair({ members, pair, onChoose, onOpen }: PairProps) {
  const choice = (place: 0 | 1) => (
    <select
      aria-label={place === 0 ? "First rollout" : "Second rollout"}
      value={String(pair[place])}
      onChange={(event) => {
        const chosen = Number(event.currentTarget.value);
        onChoose(place === 0 ? [chosen, pair[1]] : [pair[0], chosen]);
      }}
    >
      {members.map(({ row }, i) => (
        <option key={row.n} value={String(i)}>
          rollout {row.rollout}, reward {reward(row.reward)}
        </option>
      ))}
    </select>
  );
  return (
    <p class="row">
      {choice(0)} {choice(1)}
      <button type="button" onClick={onOpen}>
        Diff
      </button>
    </p>
  );
}

/** The best and the worst, which differ most likely. */
function farthest(members: readonly GroupMember[]): readonly [number, number] {
  const rewards = members.map(({ row }) => row.reward ?? 0);
  const worst = rewards.indexOf(Math.min(...rewards));
  const best = rewards.indexOf(Math.max(...rewards));
  return worst === best ? [0, Math.min(1, members.length - 1)] : [worst, best];
}

export function GroupPage({ run, id }: { run: RunEntry; id: string }) {
  const { value: members, error } = useRead<readonly GroupMember[]>(
    `/api/runs/${run.key}/groups/${encodeURIComponent(id)}`,
  );
  const [chosen, setChosen] = useState<readonly [number, number] | null>(null);
  const pair = chosen ?? farthest(members ?? []);
  const openDiff = (): void => {
    const [a, b] = [members?.[pair[0]], members?.[pair[1]]];
    if (a !== undefined && b !== undefined) go(diffLink(run.key, a.row.n, b.row.n));
  };
  useKeys({ Escape: () => history.back(), d: openDiff });
  if (members === null) return <Pending what="the rollouts of the task" error={error} />;
  const [first] = members;
  if (first === undefined) return <p class="dim">The run recorded no rollout of this task.</p>;
  return (
    <div class="stack">
      <div class="row head">
        <h1>
          Task {first.row.task}, step {first.row.step}
        </h1>
        <span dir="auto">{first.row.question}</span>
      </div>
      <p class="dim small">
        {members.length} rollouts. The number after a reward is its difference to the mean of the
        group. The first token that is another than in the first rollout is marked.
      </p>
      {members.length > 1 && (
        <Pair members={members} pair={pair} onChoose={setChosen} onOpen={openDiff} />
      )}
      <div class="members">
        {members.map((member) => (
          <section
            key={member.row.n}
            class="panel member"
            aria-label={`Rollout ${member.row.rollout}`}
          >
            <h2>
              <a href={linkTo("episode", run.key, member.row.n)}>Rollout {member.row.rollout}</a>
            </h2>
            <p class={member.row.correct === false ? "bad" : "good"}>
              {member.row.correct === false ? "✕" : member.row.correct === true ? "✓" : ""} reward{" "}
              {reward(member.row.reward)}{" "}
              {member.advantage !== null && <span class="dim">({signed(member.advantage)})</span>}
            </p>
            <p class="dim">{member.row.ended}</p>
            <Calls member={member} />
            <button type="button" onClick={() => go(linkTo("episode", run.key, member.row.n))}>
              Open
            </button>
          </section>
        ))}
      </div>
    </div>
  );
}
