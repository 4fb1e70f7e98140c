/** Names on the Fireworks wire: sessions, runs, models, checkpoints, and what a completion samples from. */
import { createHash, randomBytes } from "node:crypto";
import {
  type CheckpointKind,
  type CheckpointPath,
  checkName,
} from "../../../src/tinker-server/checkpoints/checkpoint-path.ts";
import { RequestError } from "../../../src/tinker-server/request-error.ts";

/** Sequence numbers of models that a run's name has room for. */
export const maxModelSeq = 0xffff;

export function newSessionId(): string {
  return `ts-${randomBytes(8).toString("hex")}`;
}

/** Each model is one run, whose name is derived so that a repeated request has the same; its number comes last. */
export function modelIdOf(sessionId: string, modelSeqId: number): string {
  const hash = createHash("sha256").update(`${sessionId}:${modelSeqId}`).digest("hex");
  const run = `run-${hash.slice(0, 28)}${modelSeqId.toString(16).padStart(4, "0")}`;
  return `${run}:train:${modelSeqId}`;
}

/** `run-<32 hex>`, as in paths. */
export function runOf(modelId: string): string {
  return modelId.split(":", 1)[0]!;
}

const runPattern = /^run-[0-9a-f]{32}$/u;

/** @throws RequestError 404 */
export function modelIdOfRun(run: string): string {
  if (!runPattern.test(run)) throw new RequestError(404, `There is no training run "${run}".`);
  return `${run}:train:${Number.parseInt(run.slice(-4), 16)}`;
}

function isLabel(text: string): boolean {
  return /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/u.test(text);
}

/** A label of DNS, in which the service writes its names. @throws RequestError 400 */
export function checkLabel(name: string): string {
  if (isLabel(name)) return checkName(name);
  throw new RequestError(
    400,
    `"${name}" is not a name for a checkpoint: up to 63 lowercase letters, digits and "-".`,
  );
}

export function formatCheckpoint(account: string, { runId, name }: CheckpointPath): string {
  return `${account}/${runOf(runId)}/${name}`;
}

/**
 * @param path `<account>/<run>/<name>`; with `ownRun` also a name alone.
 * @param kind what is looked for; the path does not say.
 * @throws RequestError 400, 404
 */
export function parseCheckpoint(
  account: string,
  path: string,
  kind: CheckpointKind,
  ownRun?: string,
): CheckpointPath {
  const parts = path.split("/");
  const [owner, run, name] = parts.length === 1 ? [account, ownRun, parts[0]] : parts;
  if (parts.length > 3 || run === undefined || name === undefined)
    throw new RequestError(400, `"${path}" is not a checkpoint: <account>/<run>/<name>.`);
  if (owner !== account)
    throw new RequestError(404, `This server's account is "${account}", not "${owner}".`);
  return { runId: modelIdOfRun(run), kind, name: checkLabel(name) };
}

/** The last part of a model's name, as the service writes it: `Qwen/Qwen3.5-9B` is `qwen3p5-9b`. */
function modelLabel(name: string): string {
  const last = name.split(/[/:]/u).findLast((part) => part !== "") ?? "model";
  return last
    .toLowerCase()
    .replaceAll(".", "p")
    .replaceAll(/[^a-z0-9]+/gu, "-")
    .replaceAll(/^-+|-+$/gu, "");
}

/** `name` itself, or `accounts/<any>/models/<label>`. @throws RequestError 400 */
export function checkBaseModel(wanted: string, name: string): void {
  const label = /^accounts\/[^/]+\/models\/([^/]+)$/u.exec(wanted)?.[1];
  if (wanted === name || (label !== undefined && label === modelLabel(name))) return;
  const other = name.startsWith("accounts/")
    ? ""
    : ` or "accounts/local/models/${modelLabel(name)}"`;
  throw new RequestError(
    400,
    `This server has "${name}", not "${wanted.slice(0, 200)}". Use "${name}"${other}, or start the server with --name.`,
  );
}
