/** Takes secrets out of text that leaves the gateway otherwise than by intent: errors and logs. */

const mask = "[redacted]";

const patterns: readonly [RegExp, string][] = [
  // Ours, and those of the well-known providers.
  [/\b(?:session|admin)-[\w-]{32,}/g, mask],
  [/\b(?:sk|pk|rk|hf|gsk|xai|ghp|tml)[-_][\w-]{8,}/g, mask],
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
