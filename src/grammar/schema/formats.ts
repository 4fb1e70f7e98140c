/** Values of `format`: patterns of those that are enforced, and names of those that are not. */

const leapYear = "(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)";
const date = `(?:${leapYear}-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8])))`;
const time =
  "(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,9})?(?:Z|[+-](?:0\\d|1[0-3]):[0-5]\\d)";
const octet = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
/** Below the 63 characters that a label may have; a name of an address may have 64, a domain 253. */
const label = "[a-z0-9]{1,24}(?:-[a-z0-9]{1,24})?";
const word = "[a-z0-9_+-]{1,20}";

export const formatPatterns: Readonly<Record<string, string>> = {
  date: `^${date}$`,
  time: `^${time}$`,
  "date-time": `^${date}T${time}$`,
  uuid: "^[\\da-f]{8}-[\\da-f]{4}-[\\da-f]{4}-[\\da-f]{4}-[\\da-f]{12}$",
  ipv4: `^${octet}(?:\\.${octet}){3}$`,
  email: `^${word}(?:\\.${word}){0,2}@${label}(?:\\.${label}){0,2}\\.[a-z]{2,8}$`,
};

/** Formats of texts that JSON Schema names and that are not enforced; any other word is an annotation. */
export const textFormats: ReadonlySet<string> = new Set([
  "duration",
  "hostname",
  "idn-email",
  "idn-hostname",
  "ipv6",
  "iri",
  "iri-reference",
  "json-pointer",
  "regex",
  "relative-json-pointer",
  "uri",
  "uri-reference",
  "uri-template",
]);
