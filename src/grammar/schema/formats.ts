/** Patterns of the values of `format` that are enforced; other formats are annotations, as JSON Schema has it. */

const date =
  "(?:\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8])))";
const time =
  "(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,9})?(?:Z|[+-](?:0\\d|1[0-3]):[0-5]\\d)";
const octet = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const label = "[a-z0-9]+(?:-[a-z0-9]+)*";

export const formatPatterns: Readonly<Record<string, string>> = {
  date: `^${date}$`,
  time: `^${time}$`,
  "date-time": `^${date}T${time}$`,
  uuid: "^[\\da-f]{8}-[\\da-f]{4}-[\\da-f]{4}-[\\da-f]{4}-[\\da-f]{12}$",
  ipv4: `^${octet}(?:\\.${octet}){3}$`,
  email: `^[a-z0-9_+-]+(?:\\.[a-z0-9_+-]+)*@${label}(?:\\.${label})*\\.[a-z]{2,8}$`,
};
