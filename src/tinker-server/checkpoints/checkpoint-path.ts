/** Names of checkpoints: `tinker://<run>/<kind>/<name>`. A run's id may hold colons, so no URL parser. */
import { RequestError } from "../request-error.ts";

export const checkpointKinds = ["weights", "sampler_weights", "external_weights"] as const;
export type CheckpointKind = (typeof checkpointKinds)[number];

export interface CheckpointPath {
  readonly runId: string;
  readonly kind: CheckpointKind;
  readonly name: string;
}

const scheme = "tinker://";

export function formatPath({ runId, kind, name }: CheckpointPath): string {
  return `${scheme}${runId}/${kind}/${name}`;
}

/** @throws RequestError 400 */
export function parsePath(text: string): CheckpointPath {
  const [runId = "", kind = "", name = "", ...rest] = text.slice(scheme.length).split("/");
  const isKind = (checkpointKinds as readonly string[]).includes(kind);
  if (!text.startsWith(scheme) || !isKind || rest.length > 0)
    throw new RequestError(400, `"${text}" is not a checkpoint: tinker://<run>/<kind>/<name>.`);
  return { runId, kind: kind as CheckpointKind, name: checkName(name) };
}

/** A name that is safe as a folder's. @throws RequestError 400 */
export function checkName(name: string): string {
  if (/^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,254}$/u.test(name)) return name;
  throw new RequestError(
    400,
    `"${name}" is not a name for a checkpoint: up to 255 letters, digits, "_", "-" and ".".`,
  );
}
