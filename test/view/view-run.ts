/** A folder that looks like a run, with episodes whose texts are given. */
import { appendFileSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ChatMessage } from "../../src/core/message.ts";
import type { Episode } from "../../src/core/trajectory.ts";
import { toLine } from "../../src/runs/json-lines.ts";
import { makeStep } from "../make-step.ts";

export interface MadeEpisode {
  readonly id: string;
  readonly task?: string;
  readonly rollout?: number;
  readonly reward?: number | null;
  /** Responses, one call each. */
  readonly responses: readonly string[];
  readonly ids?: readonly number[];
  readonly extra?: Partial<Episode>;
}

export function madeEpisode(made: MadeEpisode): Episode {
  const { id, task = "a", rollout = 0, reward = 1, responses, ids = [1, 2], extra } = made;
  const messages: ChatMessage[] = [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Say something." },
  ];
  const steps = responses.map((text) => {
    const response: ChatMessage = { role: "assistant", content: text };
    const step = makeStep({
      messages: [...messages],
      response,
      promptIds: Int32Array.of(7, 8),
      responseIds: Int32Array.from(ids),
      logprobs: Float32Array.from(ids, () => -0.5),
    });
    messages.push(response, { role: "user", content: "And now?" });
    return step;
  });
  return {
    id,
    task: { id: task, instruction: "Say something.", metadata: { answer: "z" } },
    rolloutIndex: rollout,
    trajectories: [{ uid: id, name: "agent", steps, reward, signals: {}, metadata: {} }],
    output: responses.at(-1),
    isCorrect: reward === null ? null : reward > 0.5,
    reward,
    terminationReason: "completed",
    metrics: {},
    metadata: {},
    attempts: 1,
    ...extra,
  };
}

export function newRunFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "agent-trainer-view-"));
  mkdirSync(join(folder, "episodes"));
  writeFileSync(join(folder, "config.resolved.yaml"), "model:\n  name: coin\nbackend: local\n");
  writeFileSync(join(folder, "events.jsonl"), "");
  writeFileSync(join(folder, "metrics.jsonl"), "");
  return folder;
}

export const episodeLine = (made: MadeEpisode): string => toLine(madeEpisode(made));

export function addEpisodes(folder: string, file: string, episodes: readonly MadeEpisode[]): void {
  appendFileSync(join(folder, "episodes", file), episodes.map(episodeLine).join(""));
}
