/** Removes secrets from text that is shown or kept: errors, logs, records, data. In time that is linear in its length. */
import { isSecretField, type SecretForm, secretForms } from "./secret-forms.ts";

/** What stands for a secret. */
export const mask = "[redacted]";

function hide(text: string, { pattern, isSecret }: SecretForm): string {
  return text.replace(pattern, (...match: unknown[]) => {
    const whole = match[0] as string;
    const { secret = "", name = "" } = match.at(-1) as Record<string, string | undefined>;
    // Signs of the sentence or the program around it are kept.
    const hidden = isSecret === undefined ? secret : /^[^;]*[^;)\]}>.]|/u.exec(secret)![0];
    if (hidden === "" || isSecret?.(hidden, name) === false) return whole;
    // A value is behind its name, which may have the same signs.
    const at = whole.lastIndexOf(secret);
    return whole.slice(0, at) + mask + whole.slice(at + hidden.length);
  });
}

/** For what is shown: a value after a name such as `token` is hidden whatever it is. */
const shown: readonly SecretForm[] = secretForms.map(({ isHiddenWhereShown, ...form }) =>
  isHiddenWhereShown === true ? { pattern: form.pattern } : form,
);

/** `text` without anything that may be a key: for errors, logs and pages. */
export const redact = (text: string): string => shown.reduce(hide, text);

/** `text` without keys, and with all its words and code: for texts that a model learns from. */
export const redactKept = (text: string): string => secretForms.reduce(hide, text);

/** The value of a field, whose name may say that it is a secret. */
export const redactField = (name: string, value: string): string =>
  isSecretField(name, value) ? mask : redactKept(value);

/** Names and paths are kept, though a folder may be called hf_something: keys are in addresses and commands. */
const mayHaveKeys = /:\/\/|[\s=]/u;

/** Options without keys: those in addresses, commands and lists of them. */
export function redactOptions<T>(value: T): T {
  if (typeof value === "string") return (mayHaveKeys.test(value) ? redact(value) : value) as T;
  if (Array.isArray(value)) return value.map(redactOptions) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, own]) => [key, redactOptions(own as unknown)]),
  ) as T;
}
