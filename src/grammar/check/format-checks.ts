/** Values of `format` that texts are checked for. Expressions are linear: what they repeat cannot overlap. */
import { isIPv4, isIPv6 } from "node:net";

const days = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isDate(text: string): boolean {
  const found = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (found === null) return false;
  const [year, month, day] = found.slice(1).map(Number) as [number, number, number];
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day >= 1 && day <= (month === 2 && isLeap ? 29 : (days[month - 1] ?? 0));
}

function isTime(text: string): boolean {
  const found = /^(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:z|([+-])(\d{2}):(\d{2}))$/i.exec(text);
  if (found === null) return false;
  const [hour, minute, second] = found.slice(1, 4).map(Number) as [number, number, number];
  const [hours, minutes] = [Number(found[5] ?? 0), Number(found[6] ?? 0)];
  if (hour > 23 || minute > 59 || hours > 23 || minutes > 59) return false;
  if (second < 60) return true;
  const offset = (found[4] === "-" ? -1 : 1) * (60 * hours + minutes);
  const utc = (60 * hour + minute - offset + 2 * 1440) % 1440;
  return second === 60 && utc === 1439;
}

function isDateTime(text: string): boolean {
  return /^.{10}t/i.test(text) && isDate(text.slice(0, 10)) && isTime(text.slice(11));
}

function isHostname(text: string): boolean {
  const label = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i;
  return text.length <= 253 && text.split(".").every((part) => label.test(part));
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@");
  if (at < 1 || at > 64) return false;
  const name = text.slice(0, at);
  const domain = text.slice(at + 1);
  const isName =
    /^[a-z\d!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z\d!#$%&'*+/=?^_`{|}~-]+)*$/i.test(name) ||
    /^"(?:[^"\\\r\n]|\\[^\r\n])*"$/.test(name);
  if (!isName) return false;
  const address = /^\[(ipv6:)?(.*)\]$/i.exec(domain);
  if (address === null) return isHostname(domain);
  return address[1] === undefined ? isIPv4(address[2]!) : isIPv6(address[2]!);
}

/** A scheme, and letters that a URI may have. */
function isUri(text: string): boolean {
  const found = /^[a-z][a-z\d+.-]*:(?:\/\/([^/?#]*))?/i.exec(text);
  if (found === null || !/^(?:[\w!$&'()*+,;=:@/?#[\].~-]|%[\da-f]{2})*$/i.test(text)) return false;
  const rest = text.slice(found[0].length);
  if (/[[\]]/.test(rest) || rest.split("#").length > 2) return false;
  const host = /^(?:[^@[\]]*@)?(?:\[([^[\]]*)\]|[^@:[\]]*)(?::\d*)?$/.exec(found[1] ?? "");
  return host !== null && (host[1] === undefined || isIPv6(host[1]) || /^v/i.test(host[1]));
}

const daysLong = "(?:\\d+Y(?:\\d+M(?:\\d+D)?)?|\\d+M(?:\\d+D)?|\\d+D)";
const timeLong = "(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S)";
const pointer = "(?:\\/(?:[^~/]|~[01])*)*";
const expression = (source: string): ((text: string) => boolean) => {
  const own = new RegExp(source, "su");
  return (text) => own.test(text);
};

export const formatChecks: Readonly<Record<string, (text: string) => boolean>> = {
  date: isDate,
  time: isTime,
  "date-time": isDateTime,
  duration: expression(`^P(?:\\d+W|${daysLong}(?:T${timeLong})?|T${timeLong})$`),
  uuid: (text) => /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i.test(text),
  ipv4: isIPv4,
  ipv6: (text) => isIPv6(text) && !text.includes("%"),
  hostname: isHostname,
  email: isEmail,
  uri: isUri,
  "json-pointer": expression(`^${pointer}$`),
  "relative-json-pointer": expression(`^(?:0|[1-9][0-9]*)(?:#|${pointer})$`),
};
