/** The checks of tasks that `agent-trainer dataset generate` writes. */
import type { Episode } from "../core/trajectory.ts";
import {
  evaluatorError,
  fieldOf,
  readAnswers,
  readText,
  type SyncScorer,
  scored,
  type TextOptions,
  tooLong,
} from "./scorer.ts";
import { normalizeText } from "../util/normalize-text.ts";
import { isSameJson } from "../util/exact-json.ts";
import { readResponse } from "./json/read-json.ts";
import { asText } from "./match.ts";

/** What an MCP environment reports at the end of an episode whose task has checks. */
const signal = "env_checks_passed";

/** JSON and numbers by value, other text but for case and white space. */
function isSame(text: string, answer: string): boolean {
  if (normalizeText(text) === normalizeText(answer)) return true;
  const [given, wanted] = [readResponse(text), readResponse(answer)];
  return "value" in given && "value" in wanted && isSameJson(given.value, wanted.value);
}

function passedOf({ trajectories }: Episode): number | undefined {
  return trajectories.map(({ signals }) => signals[signal]).find((share) => share !== undefined);
}

/**
 * 1 where the text is the task's `answer`, as a value where it is JSON, and the tools say at the end what `checks` of
 * the task has, else 0: for tasks of `agent-trainer dataset generate` in an `mcp:` environment.
 *
 * @example
 * export const evaluator = toolChecks();
 */
export function toolChecks<Metadata = unknown>(options: TextOptions = {}): SyncScorer<Metadata> {
  return (task, episode) => {
    const answers = readAnswers(task).map(asText);
    const text = readText(episode, options);
    if (text === null) return tooLong();
    const hasAnswer = answers.some((answer) => isSame(text, answer));
    const checks = fieldOf(task, "checks");
    if (!Array.isArray(checks) || checks.length === 0) return scored(hasAnswer ? 1 : 0);
    const share = passedOf(episode);
    if (share === undefined) {
      throw evaluatorError(
        `Task "${task.id}" has checks of what the agent leaves behind, but the episode does not say whether they pass.`,
        "Train in the environment mcp:SERVER that the tasks were made with, and with its agent.",
        { taskId: task.id },
      );
    }
    const signals = [{ name: "checks_passed", value: share }];
    return scored(hasAnswer && share === 1 ? 1 : 0, {}, signals);
  };
}
