/** Removes secrets from text that is shown or stored: errors, logs, records. In time that is linear in its length. */

/** What stands for a secret. */
export const mask = "[redacted]";

/** Names before a value that is one. */
const names = "api[-_]?key|access[-_]?key|private[-_]?key|authorization|token|secret|passw(?:or)?d";

const patterns: readonly [RegExp, string][] = [
  // A key of several lines, which may be those of a text in JSON; of one that is cut off, what there is.
  [
    /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:(?:(?!-----)[\s\S]){0,16384}-----END [A-Z ]{0,40}PRIVATE KEY-----|[\w+/=\r\n\\]*)/g,
    mask,
  ],
  // This package's keys, and those of well-known providers.
  [/\b(?:session|admin)-[\w-]{32,}/g, mask],
  [/\b(?:sk|pk|rk|hf|gsk|xai|gh[opsru]|tml|npm|nvapi|xox[abprs]|github_pat)[-_][\w-]{8,}/g, mask],
  [/\b(?:fw_\w{16,}|r8_[A-Za-z\d]{20,}|gl[a-z]{2,8}-[\w-]{16,})/g, mask],
  [/\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[\w-]{30,}/g, mask],
  // Not from the middle of a word: each of many beginnings would read to its end.
  [/(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{4,}/g, mask],
  [/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${mask}`],
  // In quotes up to the same quote, however often the text is a text in JSON itself: \"key\": \"...\"
  [
    new RegExp(
      String.raw`((?:${names})(?:\\*["'])?\s*[:=]\s*)(\\*["'])(?:(?!\2)[^\r\n]){6,4096}\2`,
      "gi",
    ),
    `$1$2${mask}$2`,
  ],
  [
    new RegExp(String.raw`((?:${names})(?:\\*["'])?\s*[:=]\s*(?:\\*["'])?)[^\s"',&\\]{6,}`, "gi"),
    `$1${mask}`,
  ],
  // An argument of a command: words of a sentence about it have no digit.
  [
    /((?<![\w-])--(?:[\w-]{0,40}[-_])?(?:api[-_]?key|key|token|secret|password)(?:\s+|=)["']?)(?=\S*\d)[^\s"']{6,}/gi,
    `$1${mask}`,
  ],
  [/([?&](?:key|sig|signature|x-amz-[a-z-]{1,40})=)[^\s"'&]{6,}/gi, `$1${mask}`],
  // A password may have any sign but those that end the host's part.
  [/(\/\/)[^\s/@:"'<>]*:[^\s/"'<>]+@/g, `$1${mask}@`],
];

/** `text` without anything that looks like a key. */
export function redact(text: string): string {
  return patterns.reduce((clean, [pattern, by]) => clean.replace(pattern, by), text);
}

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
