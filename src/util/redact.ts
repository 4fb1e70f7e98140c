/** Removes secrets from text that is shown or stored: errors, logs, records. */

const mask = "[redacted]";

const patterns: readonly [RegExp, string][] = [
  // This package's keys, and those of well-known providers.
  [/\b(?:session|admin)-[\w-]{32,}/g, mask],
  [/\b(?:sk|pk|rk|hf|gsk|xai|gh[opsru]|tml|npm|nvapi|xox[abprs]|github_pat)[-_][\w-]{8,}/g, mask],
  [/\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[\w-]{30,}/g, mask],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{4,}/g, mask],
  [/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${mask}`],
  [
    /((?:api[-_]?key|authorization|token|secret|password)["']?\s*[:=]\s*["']?)[^\s"',&]{6,}/gi,
    `$1${mask}`,
  ],
  [/(\/\/)[^\s/@:]+:[^\s/@]+@/g, `$1${mask}@`],
];

/** `text` without anything that looks like a key. */
export function redact(text: string): string {
  return patterns.reduce((clean, [pattern, by]) => clean.replace(pattern, by), text);
}
