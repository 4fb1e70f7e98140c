/** An episode as a rollout would leave it, whose output and last response are a given text. */
import type { Task } from "../../../core/task.ts";
import { defaultTrajectoryName, type Episode } from "../../../core/trajectory.ts";
import type { Trace } from "../../../core/trace.ts";

/** The output with every string in it replaced; what is not text and holds none stays. */
function replaced(sample: unknown, text: string): unknown {
  if (sample === undefined || sample === null || typeof sample === "string") return text;
  if (Array.isArray(sample)) return sample.map((part) => replaced(part, text));
  if (typeof sample !== "object") return sample;
  return Object.fromEntries(
    Object.entries(sample).map(([name, part]) => [name, replaced(part, text)]),
  );
}

const holdsText = (sample: unknown): boolean =>
  typeof sample === "string" ||
  (typeof sample === "object" && sample !== null && Object.values(sample).some(holdsText));

/** Whether a text can take the place of this output. */
export const canReplace = (sample: unknown): boolean =>
  sample === undefined || sample === null || holdsText(sample);

function traceOf(task: Task, text: string): Trace {
  const ids = Int32Array.from({ length: 1 }, () => 0);
  return {
    id: "probe",
    responseId: "probe",
    sessionUid: "probe",
    trajectoryUid: null,
    sequence: 0,
    choice: 0,
    protocol: "openai-chat",
    model: "probe",
    messages: [{ role: "user", content: task.instruction }],
    tools: [],
    response: { role: "assistant", content: text },
    promptIds: ids,
    responseIds: ids,
    logprobs: Float32Array.from([0]),
    logprobKind: "raw",
    stopReason: "stop",
    weightVersion: 0,
    sampling: {
      temperature: 1,
      topP: 1,
      topK: 0,
      minP: 0,
      maxTokens: 512,
      stopTokenIds: [],
      seed: 0,
    },
    parentId: null,
    startedAt: 0,
    finishedAt: 0,
  };
}

/**
 * @param sample Output of a real rollout, whose form the probe takes; `undefined` where none is known: a
 * plain string.
 */
export function probeEpisode(task: Task, text: string, sample: unknown): Episode {
  return {
    id: `probe/${task.id}/0`,
    task,
    rolloutIndex: 0,
    trajectories: [
      {
        uid: "probe",
        name: defaultTrajectoryName,
        steps: [{ trace: traceOf(task, text), done: true }],
        reward: null,
        signals: {},
        metadata: {},
      },
    ],
    output: replaced(sample, text),
    isCorrect: null,
    reward: null,
    terminationReason: "completed",
    metrics: { turns: 1 },
    metadata: {},
    attempts: 1,
  };
}
