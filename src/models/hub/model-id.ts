/** A model's name on a hub: `OWNER/NAME`, with `@REVISION` and, for one of several GGUF files, `:FILE`. */

export interface ModelId {
  /** `OWNER/NAME` */
  readonly repository: string;
  /** A branch, a tag or a commit. */
  readonly revision: string;
  /** A GGUF file of the repository; null is the folder itself. */
  readonly file: string | null;
  /** @default "model" */
  readonly type?: RepositoryType;
}

/** Models and datasets have names, files and commits alike, at different addresses. */
export type RepositoryType = "model" | "dataset";

const pattern =
  /^(?<repository>[\w-][\w.-]*\/[\w-][\w.-]*)(?:@(?<revision>[\w.][\w./-]*))?(?::(?<file>[^\\]+\.gguf))?$/iu;

/** Null for a text that cannot be a model's name. */
export function parseModelId(text: string): ModelId | null {
  const { repository, revision = "main", file = null } = pattern.exec(text)?.groups ?? {};
  if (repository === undefined) return null;
  const parts = [...repository.split("/"), ...revision.split("/"), ...(file?.split("/") ?? [])];
  return parts.some((part) => /^\.*$/u.test(part)) ? null : { repository, revision, file };
}
