/** Conversations of an episode as a tree: which call began which sub-agent or side call. */
import type { ViewThread, ViewTrajectory } from "../api/conversation.ts";

interface BranchProps {
  readonly threads: readonly ViewThread[];
  readonly at: ViewThread;
  readonly onCall: (k: number) => void;
}

function Branch({ threads, at, onCall }: BranchProps) {
  const children = threads.filter(({ parent }) => parent !== null && at.calls.includes(parent));
  return (
    <li>
      <strong>{at.name}</strong>{" "}
      {at.calls.map((k) => (
        <button key={k} type="button" class="small" onClick={() => onCall(k)}>
          call {k + 1}
        </button>
      ))}
      {children.length > 0 && (
        <ul>
          {children.map((child) => (
            <Branch
              key={child.calls[0]}
              threads={threads.filter((one) => one !== at)}
              at={child}
              onCall={onCall}
            />
          ))}
        </ul>
      )}
    </li>
  );
}

/** Nothing where every trajectory is one conversation. */
export function CallTree({
  trajectories,
  onCall,
}: {
  trajectories: readonly ViewTrajectory[];
  onCall: (k: number) => void;
}) {
  const branched = trajectories.filter(({ threads }) => threads.length > 1);
  if (branched.length === 0) return null;
  return (
    <details open class="banner">
      <summary>
        {branched.reduce((sum, { threads }) => sum + threads.length, 0)} conversations: sub-agents
        and side calls, below the call that had begun them
      </summary>
      {branched.map(({ name, threads }, i) => (
        <div key={i}>
          {trajectories.length > 1 && <p>{name}</p>}
          <ul class="tree">
            {threads
              .filter(({ parent }) => parent === null)
              .map((root) => (
                <Branch key={root.calls[0]} threads={threads} at={root} onCall={onCall} />
              ))}
          </ul>
        </div>
      ))}
    </details>
  );
}
