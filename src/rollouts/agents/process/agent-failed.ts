/** Errors of agents in other processes. */
import { AgentTrainerError } from "../../../core/errors.ts";
import { redact } from "../../../util/redact.ts";

const lastLines = 20;
const lastCharacters = 2000;

/** The last lines of what a process wrote, without keys. */
export function tailOf(text: string): string {
  const end = text.trimEnd().slice(-lastCharacters).split("\n").slice(-lastLines).join("\n");
  return redact(end);
}

/** The agent's own failure: its rollout is scored like any other, with `rollout.failure_reward`. */
export function agentFailed(
  message: string,
  stderr: string,
  fields: Readonly<Record<string, unknown>>,
): AgentTrainerError {
  const tail = tailOf(stderr);
  return new AgentTrainerError({
    code: "AGENT_FAILED",
    message: tail === "" ? message : `${message} Its last lines:\n${tail}`,
    hint: "Run it on this task by hand: agent-trainer try CONFIG.yaml --task ID shows all that happened.",
    fields: { ...fields, stderr: tail },
  });
}

/** The program cannot run at all, whatever the task: nothing of it is scored. */
export function cannotStart(program: string, why: string, cause?: unknown): AgentTrainerError {
  return new AgentTrainerError({
    code: "ROLLOUT_FAILED",
    message: `The agent's command "${program}" cannot be started: ${tailOf(why)}`,
    hint: "Check that the program is installed and in PATH, and that the path of its file is right.",
    ...(cause === undefined ? {} : { cause }),
    fields: { program },
  });
}
