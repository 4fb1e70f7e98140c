/**
 * Every error that leaves this library. A message says what happened, with which value,
 * and what to do; the same facts are fields. `docs/errors.md` lists every code (kept in sync by a test).
 */
import { defined } from "../util/defined.ts";

const marker = Symbol.for("agent-trainer.error");

/** Stable code of an error, for programs; `docs/errors.md` says what each means. */
export type ErrorCode =
  | "CONFIG_INVALID"
  | "OPTION_UNSUPPORTED"
  | "ENGINE_NOT_INSTALLED"
  | "MODEL_INVALID"
  | "HUB_FAILED"
  | "CONTEXT_OVERFLOW"
  | "REQUEST_INVALID"
  | "ROLLOUT_FAILED"
  | "AGENT_FAILED"
  | "EVALUATOR_FAILED"
  | "ENVIRONMENT_FAILED"
  | "USER_FAILED"
  | "TOO_MANY_FAILURES"
  | "NUMERICS"
  | "LIMIT_EXCEEDED"
  | "UNHEALTHY"
  | "NOTHING_LEARNED"
  | "CHECKPOINT_INVALID"
  | "RUN_LOCKED"
  | "USER_CODE_FAILED"
  | "FILE_FAILED"
  | "STORE_FAILED"
  | "UPSTREAM_FAILED"
  | "TINKER_FAILED"
  | "FIREWORKS_FAILED"
  | "VERL_FAILED"
  | "TIMEOUT"
  | "ABORTED"
  | "INTERNAL";

/** The facts of which an error consists. */
export interface ErrorDetails {
  /** What kind of error it is. */
  readonly code: ErrorCode;
  /** What happened, with the value. */
  readonly message: string;
  /** What to do about it, one sentence. */
  readonly hint?: string;
  /** The error that led to it. */
  readonly cause?: unknown;
  /** The facts of the message as data. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** Base of all; use `AgentTrainerError.isInstance`, which also works across copies of the package. */
export class AgentTrainerError extends Error {
  override readonly name: string = "AgentTrainerError";
  /** What kind of error it is, for programs; `docs/errors.md` lists all. */
  readonly code: ErrorCode;
  /** What to do about it, one sentence. */
  readonly hint: string | undefined;
  /** The facts of the message as data: the option, the value, the file ... */
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(details: ErrorDetails) {
    super(details.message, details.cause === undefined ? undefined : { cause: details.cause });
    Object.defineProperty(this, marker, { value: true });
    this.code = details.code;
    this.hint = details.hint;
    this.fields = details.fields ?? {};
  }

  static isInstance(value: unknown): value is AgentTrainerError {
    return typeof value === "object" && value !== null && marker in value;
  }
}

/** An option is unknown, has the wrong type, or is out of bounds. */
export class ConfigError extends AgentTrainerError {
  override readonly name = "ConfigError";
  constructor(details: Omit<ErrorDetails, "code">) {
    super({ code: "CONFIG_INVALID", ...details });
  }
}

/** An option is valid, but the chosen backend does not support it. */
export class UnsupportedOptionError extends AgentTrainerError {
  override readonly name = "UnsupportedOptionError";
  constructor(
    option: string,
    value: unknown,
    backend: string,
    supportedBy: readonly string[],
    hint?: string,
  ) {
    const remedy =
      supportedBy.length > 0
        ? `Backends that support it: ${supportedBy.join(", ")}.`
        : "No backend of this version supports it.";
    super({
      code: "OPTION_UNSUPPORTED",
      message: `The backend "${backend}" does not support ${option}=${JSON.stringify(value)}. ${remedy}`,
      ...defined({ hint }),
      fields: { option, value, backend, supportedBy },
    });
  }
}

/** A model folder cannot be used: a file is missing, broken, or of an unsupported kind. */
export class ModelError extends AgentTrainerError {
  override readonly name = "ModelError";
  constructor(details: Omit<ErrorDetails, "code">) {
    super({ code: "MODEL_INVALID", ...details });
  }
}

/** A prompt leaves no room for a completion in the context window. */
export class ContextOverflowError extends AgentTrainerError {
  override readonly name = "ContextOverflowError";
  /** @param counted `least` where the prompt was too long to be counted */
  constructor(promptTokens: number, contextLength: number, counted: "all" | "least" = "all") {
    super({
      code: "CONTEXT_OVERFLOW",
      message: `The prompt has ${counted === "least" ? "at least " : ""}${promptTokens} tokens, but the context window has ${contextLength}, so no token can follow it.`,
      hint: "Shorten the conversation, or use a model with a longer context.",
      fields: { promptTokens, contextLength },
    });
  }
}

/** A checkpoint is corrupt, incomplete, or belongs to something else. */
export class CheckpointError extends AgentTrainerError {
  override readonly name = "CheckpointError";
  constructor(details: Omit<ErrorDetails, "code">) {
    super({ code: "CHECKPOINT_INVALID", ...details });
  }
}

/** A wait reached its deadline. */
export class DeadlineError extends AgentTrainerError {
  override readonly name = "DeadlineError";
  constructor(what: string, limitMs: number, hint?: string) {
    super({
      code: "TIMEOUT",
      message: `${what} did not finish within ${limitMs} ms.`,
      ...defined({ hint }),
      fields: { what, limitMs },
    });
  }
}

/** A loss or gradient is not a finite number. */
export class NumericsError extends AgentTrainerError {
  override readonly name = "NumericsError";
  constructor(tensor: string, value: number) {
    super({
      code: "NUMERICS",
      message: `${tensor} is ${value}, so this step was not applied.`,
      hint: "Lower the learning rate, or look at the rewards of the last step for extreme values.",
      fields: { tensor, value },
    });
  }
}
