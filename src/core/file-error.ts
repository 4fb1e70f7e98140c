/** An operating system's file error as a sentence: what could not be done, where, why, and what to do. */
import { AgentTrainerError } from "./errors.ts";

interface Reason {
  readonly why: string;
  readonly hint: string;
}

const elsewhere = "Give a place that this user may write to.";
const reasons: Readonly<Record<string, Reason>> = {
  ENOSPC: { why: "the disk is full", hint: "Free space there, or give a place on another disk." },
  EDQUOT: { why: "the disk quota is used up", hint: "Free space, or give a place elsewhere." },
  EFBIG: { why: "the file would become too large", hint: "Raise the limit (ulimit -f)." },
  EROFS: { why: "the file system is read-only", hint: elsewhere },
  EACCES: { why: "access is denied", hint: elsewhere },
  EPERM: { why: "the system does not permit it", hint: elsewhere },
  ENOTDIR: { why: "a part of this path is a file, not a folder", hint: "Give a path of folders." },
  EEXIST: { why: "there already is something else", hint: "Remove it, or give another name." },
  EISDIR: { why: "it is a folder, not a file", hint: "Remove the folder, or give another name." },
  ENOENT: { why: "it does not exist", hint: "Check the path." },
  ELOOP: { why: "its links lead in a circle", hint: "Mend the links, or give another path." },
  ENAMETOOLONG: { why: "the name is too long", hint: "Give a shorter name." },
  EMFILE: { why: "this process has too many files open", hint: "Raise the limit (ulimit -n)." },
  ENFILE: { why: "the system has too many files open", hint: "Close other programs." },
  EIO: { why: "the disk reported an error", hint: "Check the disk." },
  ESTALE: { why: "its network file system lost it", hint: "Mount the file system again." },
  EBUSY: { why: "it is in use", hint: "Wait for what uses it." },
};

const verbs: ReadonlyMap<string, string> = new Map(
  Object.entries({
    open: "open",
    read: "read readlink",
    write: "write ftruncate fsync close",
    make: "link symlink",
    "make the folder": "mkdir mkdtemp",
    "list the folder": "scandir opendir",
    rename: "rename",
    copy: "copyfile",
    delete: "unlink rmdir rm",
    "look at": "stat lstat realpath access",
  }).flatMap(([verb, calls]) => calls.split(" ").map((call) => [call, verb] as const)),
);

export interface FileContext {
  /** Where the error does not say it. */
  readonly path?: string;
  /** In place of the default hint. */
  readonly hint?: string;
}

/** `FILE_FAILED` for an error of the file system; null for any other. */
export function fileError(
  error: unknown,
  { path, hint }: FileContext = {},
): AgentTrainerError | null {
  const facts = factsOf(error);
  const reason = reasons[facts.code];
  const verb = verbs.get(facts.syscall);
  if (reason === undefined || verb === undefined) return null;
  const where = facts.path ?? path ?? null;
  return new AgentTrainerError({
    code: "FILE_FAILED",
    message: `Cannot ${verb} ${where ?? "a file"}: ${reason.why} (${facts.code}).`,
    hint: hint ?? reason.hint,
    cause: error,
    fields: { path: where, reason: facts.code, syscall: facts.syscall },
  });
}

interface Facts {
  readonly code: string;
  readonly syscall: string;
  readonly path: string | null;
}

/** For a system error, or one that was already reported by a caller that did not know the file. */
function factsOf(error: unknown): Facts {
  const nothing: Facts = { code: "", syscall: "", path: null };
  if (!(error instanceof Error)) return nothing;
  const isTold = AgentTrainerError.isInstance(error);
  if (isTold && (error.code !== "FILE_FAILED" || error.fields["path"] !== null)) return nothing;
  const { path } = error as NodeJS.ErrnoException;
  const { code, syscall } = isTold
    ? { code: error.fields["reason"], syscall: error.fields["syscall"] }
    : (error as NodeJS.ErrnoException);
  const text = (value: unknown): string => (typeof value === "string" ? value : "");
  return { code: text(code), syscall: text(syscall), path: typeof path === "string" ? path : null };
}

/** Runs `work`; errors of the file system are thrown as `FILE_FAILED`. */
export function namingFile<T>(context: FileContext, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw fileError(error, context) ?? error;
  }
}
