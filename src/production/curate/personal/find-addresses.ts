/** IP addresses that a host can have, of versions 4 and 6; numbers of versions and sections look the same. */
import { isIPv4, isIPv6 } from "node:net";
import { type Found, isNameAt } from "./found.ts";

const fours = /(?<![\dA-Za-z]|\d\.)(?:\d{1,3}\.){3}\d{1,3}(?![\dA-Za-z]|\.\d)/gu;

/** What says before four numbers that they are a version or a section, in some languages. */
const versionBefore =
  /(?:(?:\b(?:v|ver|versions?|versión|versão|versione|versie|versjon|wersja|sürüm|release|build|revision|firmware|sections?|chapter|clause|article|figure|table|abschnitt|kapitel|sección|capítulo|chapitre|oid)|версия|версии|раздел|バージョン|版本|版|버전|الإصدار|संस्करण|§)["'.]?\s{0,2}[:=]?\s{0,2}["'(]?|[=<>!~]=\s{0,2}["']?|[~^]>?\s?)$/iu;

/** The version of a product: Chrome/120.0.1.2; names of hosts, which Java writes so before an address, are in lower case. */
const productBefore = /(?:^|[\s("';,])[A-Z][A-Za-z_-]*\/$/u;

/** The rest of a file's name or of a version: lib-1.2.3.4.jar, 1.2.3.4-rc1. */
const versionAfter =
  /^(?:\.(?:jar|tar|t?gz|zip|whl|exe|msi|dmg|pkg|deb|rpm|apk|nupkg|dll|so)\b|[-+_](?:alpha|beta|rc|snapshot|dev|pre|preview|release|final|ga|build|hotfix|patch|sp|\d+\.?(?:el|fc|ubuntu|deb))\w*)/iu;

/** A heading of a section: small numbers at the beginning of a line, and a word. */
const isHeading = (address: string, before: string, after: string): boolean =>
  /^$|[\n>]$|#\s$/u.test(before) &&
  /^[ .)]{1,3}\p{Lu}\p{Ll}/u.test(after) &&
  address.split(".").every((part) => Number(part) <= 20);

/** Neither a network nor a mask, nor one of many hosts. */
const ofHost = /^(?:[1-9]\d?|1\d\d|2[01]\d|22[0-3])\.(?!0\.0\.0$)/u;

const around = 24;

function isAddressOfHost(text: string, begin: number, address: string): boolean {
  if (!isIPv4(address) || !ofHost.test(address)) return false;
  const end = begin + address.length;
  const before = text.slice(Math.max(0, begin - around), begin);
  const after = text.slice(end, end + around);
  if (versionBefore.test(before) || versionAfter.test(after)) return false;
  if (isHeading(address, before, after)) return false;
  return !productBefore.test(before) || /^:\d/u.test(after);
}

/** Of hexadecimal digits and colons; only from where such a word begins. */
const sixes = /(?:(?<![\w.])[\da-f]|(?<![\da-f:.]):)[\da-f:.]*/giu;

/** Networks of RFC 4291 that hosts are in: global, local and link-local unicast, and IPv4 within IPv6. */
const networks =
  /^(?:[23][\da-f]{3}:|f[cd][\da-f]{2}:|fe[89ab][\da-f]:|64:ff9b::|(?:::|(?:0+:){5})ffff:|::1$|(?:0{1,4}:){7}0{0,3}1$)/iu;

/** All eight groups, of which most are long: nothing else is written so. */
const isWhole = (address: string): boolean =>
  /^(?:[\da-f]{1,4}:){7}[\da-f]{1,4}$/iu.test(address) &&
  (address.match(/[\da-f]{3,4}/giu)?.length ?? 0) >= 5;

/** A slice of Python: items[::1]. */
const isSlice = (text: string, begin: number): boolean =>
  text[begin - 1] === "[" && /[\w\])"']/u.test(text[begin - 2] ?? "");

const longest = 45;

function findSixes(text: string): readonly Found[] {
  return [...text.matchAll(sixes)].flatMap(({ 0: word, index }) => {
    if (word.length > longest + 3 || !word.includes(":")) return [];
    const skipped = /^:(?!:)/u.test(word) ? 1 : 0;
    const address = word.slice(skipped).replace(/\.+$|(?<=[^:]):$/u, "");
    const begin = index + skipped;
    const end = begin + address.length;
    const isOne =
      /\d/u.test(address) &&
      (networks.test(address) || isWhole(address)) &&
      isIPv6(address) &&
      !isSlice(text, begin) &&
      !(isNameAt(text, end) || text[end] === "_");
    return isOne ? [{ begin, end, key: address.toLowerCase() }] : [];
  });
}

export function findAddresses(text: string): readonly Found[] {
  const found = [...findSixes(text)];
  const inSix = new Set(found.map(({ end }) => end));
  for (const { 0: address, index } of text.matchAll(fours)) {
    const end = index + address.length;
    if (!inSix.has(end) && isAddressOfHost(text, index, address))
      found.push({ begin: index, end, key: address });
  }
  return found.toSorted((a, b) => a.begin - b.begin);
}
