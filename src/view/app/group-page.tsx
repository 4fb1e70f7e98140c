/** The rollouts of one task in one step, side by side. */
import type { GroupMember, RunEntry } from "../api.ts";
import { visibleText } from "../episode/visible-text.ts";
import { reward, signed } from "./format.ts";
import { useKeys } from "./keys.ts";
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
              {visibleText(text)}
              {at !== null && `\n[first difference: token ${at + 1}, id ${ids[at] ?? "none"}]`}
            </pre>
          );
        return (
          <pre key={k} class="assistant" dir="auto">
            {visibleText(texts.slice(0, at).join(""))}
            <mark title={`First token that differs: ${at + 1}, id ${ids[at] ?? "none"}`}>
              {visibleText(texts[at] ?? "∎")}
            </mark>
            {visibleText(texts.slice(at + 1).join(""))}
          </pre>
        );
      })}
    </>
  );
}

export function GroupPage({ run, id }: { run: RunEntry; id: string }) {
  const { value: members, error } = useRead<readonly GroupMember[]>(
    `/api/runs/${run.key}/groups/${encodeURIComponent(id)}`,
  );
  useKeys({ Escape: () => history.back() });
  if (error !== null) return <p role="alert">{error}</p>;
  const [first] = members ?? [];
  if (members === null || first === undefined) return <p class="dim">Loading …</p>;
  return (
    <>
      <h1>
        Task {visibleText(first.row.task)}, step {first.row.step}
      </h1>
      <p class="dim">
        {members.length} rollouts. The number after a reward is its difference to the mean of the
        group. The first token that is another than in the first rollout is marked.
      </p>
      <div class="members">
        {members.map((member) => (
          <section key={member.row.n} class="member" aria-label={`Rollout ${member.row.rollout}`}>
            <h2>
              <a href={linkTo("episode", run.key, member.row.n)}>Rollout {member.row.rollout}</a>
            </h2>
            <p class={member.row.correct === false ? "bad" : "good"}>
              reward {reward(member.row.reward)}{" "}
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
    </>
  );
}
