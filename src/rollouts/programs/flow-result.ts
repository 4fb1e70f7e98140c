/**
 * Reads what a flow returned: an episode, trajectories, or a plain value. Reports come from user code
 * that may not be typed, so every field is checked.
 */
import type { EpisodeReport, StepReport, TrajectoryReport } from "../../core/report.ts";
import { AgentTrainerError } from "../../core/errors.ts";
import { defaultTrajectoryName, terminationReasons } from "../../core/trajectory.ts";
import { describeValue } from "../failures/error-facts.ts";
import { defined } from "../../util/defined.ts";
import type { FlowResult } from "./program.ts";
import { isJsonObject } from "../../util/json-object.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Objects count as reports when they are marked as such, or have the shape: `trajectories` in an
 * episode, `steps` in a trajectory.
 *
 * @param name of a trajectory that has none. @default "agent"
 * @throws AgentTrainerError (`ROLLOUT_FAILED`) when it is none of these, or a report is malformed.
 */
export function readFlowResult(returned: unknown, name?: string): FlowResult {
  const fallback = name === undefined || name === "" ? defaultTrajectoryName : name;
  if (isTrajectory(returned)) {
    return { reports: [readTrajectory(returned, fallback)], output: undefined };
  }
  if (isEpisode(returned)) return readEpisode(returned, fallback);
  if (Array.isArray(returned) && returned.some(isTrajectory)) {
    return { reports: readList(returned, "a list", fallback), output: undefined };
  }
  if (typeof returned === "function" || typeof returned === "symbol") {
    throw wrongResult(`The agent flow returned ${describeValue(returned)}.`);
  }
  return { reports: [], output: returned };
}

function isTrajectory(value: unknown): value is Fields {
  return isJsonObject(value) && (value["kind"] === "trajectory" || Array.isArray(value["steps"]));
}

function isEpisode(value: unknown): value is Fields {
  return (
    isJsonObject(value) && (value["kind"] === "episode" || Array.isArray(value["trajectories"]))
  );
}

function readList(
  items: readonly unknown[],
  what: string,
  fallback: string,
): readonly TrajectoryReport[] {
  return items.map((item, index) => {
    if (isTrajectory(item)) return readTrajectory(item, fallback);
    throw wrongResult(
      `The agent flow returned ${what} of trajectory reports, but item ${index} is ${describeValue(item)}.`,
    );
  });
}

function readEpisode(episode: Fields, fallback: string): FlowResult {
  const { trajectories = [], terminationReason, metrics, metadata, output } = episode;
  const of = "The episode report";
  if (!Array.isArray(trajectories)) {
    throw wrongField(of, "trajectories", trajectories, "a list");
  }
  checkReason(of, terminationReason);
  checkNumbers(of, "metrics", metrics);
  checkObject(of, "metadata", metadata);
  const reports = readList(trajectories, "an episode", fallback);
  const rest = episode as unknown as EpisodeReport;
  return {
    reports,
    output,
    ...defined({
      terminationReason: rest.terminationReason,
      metrics: rest.metrics,
      metadata: rest.metadata,
    }),
  };
}

function readTrajectory(fields: Fields, fallback: string): TrajectoryReport {
  const { name = fallback, uid, reward, signals, metadata, steps, train } = fields;
  if (typeof name !== "string" || name === "") {
    throw wrongResult(
      `A trajectory report must have a name, but its name is ${describeValue(name)}.`,
    );
  }
  const of = `The trajectory report "${name}"`;
  if (uid !== undefined && typeof uid !== "string") throw wrongField(of, "uid", uid, "a string");
  // null means "not scored" in a trajectory that was read from a file.
  if (reward !== undefined && reward !== null && !Number.isFinite(reward)) {
    throw wrongField(of, "reward", reward, "a finite number");
  }
  if (train !== undefined && typeof train !== "boolean") {
    throw wrongField(of, "train", train, "true or false");
  }
  checkNumbers(of, "signals", signals);
  checkObject(of, "metadata", metadata);
  if (steps !== undefined && !Array.isArray(steps)) throw wrongField(of, "steps", steps, "a list");
  const { reward: _reward, ...report } = fields as unknown as TrajectoryReport;
  return {
    ...report,
    kind: "trajectory",
    name,
    ...(typeof reward === "number" ? { reward } : {}),
    ...(steps === undefined ? {} : { steps: steps.map((step, i) => readStep(step, of, i)) }),
  };
}

function readStep(step: unknown, trajectory: string, index: number): StepReport {
  const of = `Step ${index} of ${trajectory.replace("The", "the")}`;
  if (!isJsonObject(step)) throw wrongResult(`${of} is ${describeValue(step)}, not an object.`);
  const { responseId, choice, reward, done } = step;
  if (typeof responseId !== "string" || responseId === "") {
    throw new AgentTrainerError({
      code: "ROLLOUT_FAILED",
      message: `${of} has the responseId ${describeValue(responseId)}, so it cannot be matched to a call.`,
      hint: "Give each step the id of its response, such as completion.id.",
    });
  }
  if (choice !== undefined && !(Number.isSafeInteger(choice) && Number(choice) >= 0)) {
    throw wrongField(of, "choice", choice, "an integer of at least 0");
  }
  if (reward !== undefined && !Number.isFinite(reward)) {
    throw wrongField(of, "reward", reward, "a finite number");
  }
  if (done !== undefined && typeof done !== "boolean") {
    throw wrongField(of, "done", done, "true or false");
  }
  return step as unknown as StepReport;
}

function checkReason(of: string, reason: unknown): void {
  if (reason === undefined || terminationReasons.includes(reason as "completed")) return;
  throw wrongField(of, "terminationReason", reason, `one of ${terminationReasons.join(", ")}`);
}

function checkObject(of: string, field: string, value: unknown): void {
  if (value !== undefined && !isJsonObject(value)) throw wrongField(of, field, value, "an object");
}

function checkNumbers(of: string, field: string, value: unknown): void {
  checkObject(of, field, value);
  for (const [name, number] of Object.entries(value ?? {})) {
    if (!Number.isFinite(number)) {
      throw wrongField(of, `${field}.${name}`, number, "a finite number");
    }
  }
}

function wrongField(of: string, field: string, value: unknown, wanted: string): AgentTrainerError {
  return wrongResult(`${of} has the ${field} ${describeValue(value)}, which is not ${wanted}.`);
}

function wrongResult(message: string): AgentTrainerError {
  return new AgentTrainerError({
    code: "ROLLOUT_FAILED",
    message,
    hint: "Return a plain value, a defineTrajectory(...), a list of only those, or a defineEpisode(...).",
  });
}
