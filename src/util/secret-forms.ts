/**
 * What secrets look like: forms that services give their keys, and values after names such as api_key. One list for
 * what is shown and what is kept. A key is told from a word by its signs: words rarely change between letters and digits.
 */

/** Where the group `secret` of a pattern is one. */
export interface SecretForm {
  readonly pattern: RegExp;
  /** Whether what was found is a secret rather than words or code. @default always */
  readonly isSecret?: (found: string, name: string) => boolean;
  /** Whether a text that is only shown hides it in any case: there, a word too many does no harm. @default false */
  readonly isHiddenWhereShown?: boolean;
}

const count = (text: string, sign: RegExp): number => text.match(sign)?.length ?? 0;

/** Letters of one case, or digits; a capital letter belongs to the word that it begins. */
const stretches = /[A-Z]?[a-z]+|[A-Z]+|\d+/gu;

const hasDigitsAndLetters = (text: string, least: number): boolean =>
  count(text, /\d/gu) >= least && count(text, /[a-z]/giu) >= least;

const uuid = /[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}/iu;

/** Letters and digits in a row; those of base64 are one row. */
const rowsOf = (text: string): readonly string[] =>
  text.replaceAll(/[/+=~]/gu, "").split(/[^a-z\d]+/iu);

/** Whether a row of so many letters and digits is random: words and their numbers have long stretches. */
const hasRandomRow = (text: string, least: number): boolean =>
  uuid.test(text) ||
  rowsOf(text).some((row) => {
    if (row.length < least) return false;
    const mean = row.length / count(row, stretches);
    if (hasDigitsAndLetters(row, 2)) return mean <= 3.5 || row.length >= 32;
    return mean <= (row.length >= 32 ? 3.5 : 3) && row.length >= (/\d/u.test(row) ? 20 : 24);
  });

/** 32 bytes in base64url. */
const isOwnKey = (found: string): boolean =>
  /[A-Z]/u.test(found) && /\d/u.test(found) && found.length <= 3.5 * count(found, stretches);

/** After a prefix that only keys have, letters and digits may be in halves, or all be letters. */
const isKey = (found: string): boolean =>
  uuid.test(found) ||
  rowsOf(found).some(
    (row) =>
      (row.length >= 32 && new Set(row).size > 2) ||
      (row.length >= 16 &&
        (row.length <= (/\d/u.test(row) ? 3.5 : 3) * count(row, stretches) ||
          hasDigitsAndLetters(row, 4))),
  );

/** The lines of a private key name one also in code: without text between them there is none. */
function hasKeyInPem(found: string): boolean {
  const body = found.replaceAll(/-----[A-Z ]{1,60}-----|\\[nr]|\s/gu, "");
  return /[A-Za-z\d+/=]{16}/u.test(body) || /^[^"'`(){}]{6,}$/u.test(body);
}

/** A text of Basic authentication: a name and a password. */
const isNameAndPassword = (base64: string): boolean =>
  /^[\x20-\x7e]+:[\x20-\x7e]+$/u.test(Buffer.from(base64, "base64").toString("latin1"));

/** Names before a value that is a secret. */
const names =
  "api[-_]?key|access[-_]?key|private[-_]?key|account[-_]?key|subscription[-_]?key|authorization|(?<!page[-_]?|next[-_]?|continuation[-_]?)token|secret|passw(?:or)?d|passphrase|pwd";
const isNamedLikePassword = /pass|pwd/iu;

/** What a program or a template has in place of a value. */
const isCode = /[\s(){}<>[\]]|\$[A-Z_]|^\$/u;

/** A token of a blockchain is public. */
const isChainAddress = /^0x[\da-f]{40}$/iu;

/** A value after a name: random, or a password with digits. */
function isNamedSecret(value: string, name: string): boolean {
  if (isCode.test(value) || isChainAddress.test(value)) return false;
  if (!isNamedLikePassword.test(name)) return hasRandomRow(value, 12);
  const hasSign = /[!@#$%^*+?]/u.test(value) && value.length >= 8;
  return (hasSign ? [value] : rowsOf(value)).some(
    (row) => row.length >= 8 && hasDigitsAndLetters(row, 1),
  );
}

/** Without quotes it may be the name of a variable (hash256), but not after that of one of the environment. */
function isBareSecret(value: string, name: string): boolean {
  const isVariable = /^[a-z_][\w.]*$/iu.test(value) && !/^PASS|^PWD/u.test(name);
  return isVariable
    ? hasRandomRow(value, isNamedLikePassword.test(name) ? 10 : 12)
    : isNamedSecret(value, name);
}

/** Replaces a password in an address. */
const placeholder = /^(?:.{0,3}|[A-Z_]+|pass(?:word|wd)?|pwd|secret|x+|\*+|\.+|\$.*|[{%[].*)$/u;

const isHiddenWhereShown = true;

export const secretForms: readonly SecretForm[] = [
  // A key of several lines, which may be those of a text in JSON; of one that is cut off, what there is.
  {
    pattern:
      /(?<secret>-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:(?:(?!-----)[\s\S]){0,16384}-----END [A-Z ]{0,40}PRIVATE KEY-----|[\w+/=\r\n\\]*))/g,
    isSecret: hasKeyInPem,
    isHiddenWhereShown,
  },
  // This package's keys.
  {
    pattern: /(?<secret>\b(?:session|admin)-[\w-]{32,})/g,
    isSecret: isOwnKey,
    isHiddenWhereShown,
  },
  // OpenAI, Anthropic, OpenRouter, DeepSeek, Langfuse, Stripe; Hugging Face, Groq, xAI, GitHub, Tinker, npm, NVIDIA, Slack.
  {
    pattern:
      /(?<secret>\b(?:sk|pk|rk|hf|gsk|xai|gh[opsru]|tml|npm|nvapi|xox[abeoprs]|xapp|github_pat)[-_][\w-]{8,})/g,
    isSecret: isKey,
    isHiddenWhereShown,
  },
  // LangSmith, Perplexity, Tavily, W&B, OpenReward, Cerebras, Pinecone, Fireworks, Replicate, GitLab, PyPI, Together ...
  {
    pattern:
      /(?<secret>\b(?:lsv2|ls_|pplx|tvly|wandb_v\d|ork|csk|pcsk|fw|fpk|r8|gl[a-z]{2,8}|pypi|tgp_v\d|jina|e2b|dtn|bt-st|shp[a-z]{2}|sntr[yu]s?|lin_api|ntn|do[opr]_v1|glsa|glc|sbp|sb_secret|PMAK|NRAK|hv[bs]|dckr_pat|dp\.[a-z]{2}|figd|fc(?=-)|whsec|rpa|vc[kp]|rubygems|GOCSPX|bb_live|AGE-SECRET-KEY|ATATT3x\w{0,8})[-_.][\w.-]{16,})/g,
    isSecret: isKey,
  },
  // AWS, Google, Databricks, Twilio, SendGrid, Telegram, Discord.
  {
    pattern:
      /(?<secret>\b(?:(?:AKIA|ASIA)[\dA-Z]{16,}\b|AIza[\w-]{30,}|ya29\.[\w-]{20,}|dapi[\da-f]{32,}(?:-\d)?|SK[\da-f]{32,}\b|SG\.[\w-]{16,}\.[\w-]{16,}|\d{8,10}:AA[\w-]{32,}|[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}))/g,
  },
  {
    pattern:
      /aws[\w-]{0,20}secret[\w-]{0,20}\\*["']?\s{0,4}[:=]\s{0,4}\\*["']?(?<secret>[A-Za-z\d/+]{40})/gi,
  },
  { pattern: /wandb[^\n/@]{0,40}?(?<![\da-f])(?<secret>[\da-f]{40})(?![\da-f])/gi },
  { pattern: /hooks\.slack\.com\/services\/(?<secret>[\w/]{20,})/g },
  // Not from the middle of a word: each of many beginnings would read to its end.
  { pattern: /(?<secret>(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{4,})/g },
  {
    pattern: /\bbasic\s+(?<secret>[\w.~+/=-]{6,})/gi,
    isSecret: isNameAndPassword,
    isHiddenWhereShown,
  },
  {
    pattern: /\bbearer\s+(?<secret>[\w.~+/=-]{6,})/gi,
    isSecret: (found) => hasRandomRow(found, 12) || isKey(found),
    isHiddenWhereShown,
  },
  {
    pattern:
      /authorization(?:\\*["'])?\s{0,4}[:=]\s{0,4}(?:\\*["'])?(?:token|api-?key|key)[\s=]\s{0,4}"?(?<secret>[\w.~+/=-]{6,})/gi,
    isSecret: isNamedSecret,
    isHiddenWhereShown,
  },
  // In quotes up to the same quote, however often the text is a text in JSON itself: \"key\": \"...\"
  {
    pattern: new RegExp(
      String.raw`(?<name>(?:${names})(?:\\*["'])?\s*[:=]\s*)(?<quote>\\*["'])(?<secret>(?:(?!\k<quote>)[^\r\n]){6,4096})\k<quote>`,
      "gi",
    ),
    isSecret: isNamedSecret,
    isHiddenWhereShown,
  },
  {
    pattern: new RegExp(
      String.raw`(?<name>(?:${names})(?:\\*["'])?\s*[:=]\s*(?:\\*["'])?)(?<secret>[^\s"',&\\]{6,})`,
      "gi",
    ),
    isSecret: isBareSecret,
    isHiddenWhereShown,
  },
  {
    pattern: /\b[A-Z][A-Z\d_]*_KEY\\*["']?\s{0,4}[:=]\s{0,4}\\*["']?(?<secret>[\w.~+/=-]{16,})/g,
    isSecret: (found) => hasRandomRow(found, 16),
  },
  // An argument of a command: words of a sentence about it have no digit.
  {
    pattern:
      /(?<name>(?<![\w-])--(?:[\w-]{0,40}[-_])?(?:api[-_]?key|key|token|secret|password)(?:\s+|=)["']?)(?=\S*\d)(?<secret>[^\s"']{6,})/gi,
    isSecret: isNamedSecret,
    isHiddenWhereShown,
  },
  {
    pattern: /[?&](?:key|sig|signature|x-amz-[a-z-]{1,40})=(?<secret>[^\s"'&]{6,})/gi,
    isSecret: (found) => hasRandomRow(found, 16),
    isHiddenWhereShown,
  },
  // A password may have any sign but those that end the host's part.
  {
    pattern: /\/\/(?<secret>[^\s/@:"'<>]*:[^\s/"'<>]+)@/g,
    isSecret: (found) => !placeholder.test(found.slice(found.indexOf(":") + 1)),
    isHiddenWhereShown,
  },
];

const nameOfSecret = new RegExp(`(?:${names})$`, "iu");

/** Whether the value of a field is a secret by its name: `{ "api_key": "..." }`. */
export const isSecretField = (name: string, value: string): boolean =>
  nameOfSecret.test(name) && isNamedSecret(value, name);
