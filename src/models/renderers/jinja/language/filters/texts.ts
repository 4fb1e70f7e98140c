/** Filters that make texts. */
import { textOf, indexOf } from "../numbers.ts";
import { fail } from "../errors.ts";
import { percentFormat } from "../format.ts";
import { spend } from "../limits.ts";
import { capitalize, center, replaceText } from "../methods/text.ts";
import { split, splitLines, strip } from "../methods/text-parts.ts";
import { empty, Str } from "../str.ts";
import {
  Dict,
  isTrue,
  iterate,
  none,
  refuseUndefined,
  sizeOf,
  Tuple,
  typeName,
  type Args,
  type Value,
} from "../values.ts";
import { json, repr, str } from "../write.ts";
import { attributeGetter, onText, type Filters } from "./filter.ts";
import { wrapText } from "./wrap-text.ts";

const own = (text: string): Str => Str.own(text);

/** Every match of a pattern by what `to` makes of it. */
function rewrite(self: Str, pattern: RegExp, to: (found: string) => string): Str {
  const parts: Str[] = [];
  let end = 0;
  for (const { 0: found, index } of self.text.matchAll(pattern)) {
    const cut = self.cut(index, index + found.length);
    parts.push(self.cut(end, index), cut.like(to(found)));
    end = index + found.length;
  }
  parts.push(self.cut(end));
  return Str.join(parts);
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "'": "&#39;",
  '"': "&#34;",
};
const escape = onText((text) => rewrite(text, /[&<>'"]/g, (found) => entities[found]!));

const named: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

function stripTags(text: Str): Str {
  let plain = "";
  let at = 0;
  while (at < text.text.length) {
    const open = text.text.indexOf("<", at);
    const isComment = open !== -1 && text.text.startsWith("<!--", open);
    const close = open === -1 ? -1 : text.text.indexOf(isComment ? "-->" : ">", open);
    plain += text.text.slice(at, close === -1 ? undefined : open);
    if (close === -1) break;
    at = close + (isComment ? 3 : 1);
  }
  const words = split(text.like(plain), null, -1, false).map((word) => word.text);
  return text.like(
    words
      .join(" ")
      .replaceAll(/&(?:#(\d{1,7})|(amp|lt|gt|quot|apos));/g, (_, code?: string, name?: string) =>
        name === undefined ? String.fromCodePoint(Math.min(Number(code), 0x10ffff)) : named[name]!,
      ),
  );
}

/** Safe characters of a URL stay. */
function urlQuote(text: string, safe: string): string {
  const quoted = encodeURIComponent(text.replaceAll(/\p{Cs}/gu, "\ufffd")).replaceAll(
    /[!'()*]/g,
    (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return safe === "" ? quoted : quoted.replaceAll("%2F", "/");
}

function urlEncode(value: Value): Value {
  if (value instanceof Str) return value.like(urlQuote(value.text, "/"));
  const pairs = value instanceof Dict ? [...value.entries()] : null;
  if (pairs === null && !Array.isArray(value))
    return str(value).like(urlQuote(str(value).text, "/"));
  const query = (
    pairs ?? Array.from(iterate(value), (item) => [...iterate(item)] as [Value, Value])
  ).map(([key, item]) =>
    [key, item].map((one) => urlQuote(str(one).text, "").replaceAll("%20", "+")).join("="),
  );
  return Str.foreign(query.join("&"));
}

function indent(value: Value, args: Args): Value {
  const [width = 4n, first = false, blank = false] = args.take("indent", [
    "width",
    "first",
    "blank",
  ]);
  const text = textOf(value, "indent");
  const margin = width instanceof Str ? width : own(" ").times(indexOf(width));
  const lines = splitLines(text.plus(own("\n")));
  const indented = lines.map((line, i) =>
    i === 0 || (line.text === "" && !isTrue(blank)) ? line : margin.plus(line),
  );
  const joined = Str.join(indented, own("\n"));
  return isTrue(first) ? margin.plus(joined) : joined;
}

function truncate(value: Value, args: Args): Value {
  const [length = 255n, kills = false, end = own("..."), leeway = 5n] = args.take("truncate", [
    "length",
    "killwords",
    "end",
    "leeway",
  ]);
  refuseUndefined(value);
  const text = textOf(value, "truncate");
  const ending = textOf(end, "truncate");
  const [most, slack] = [indexOf(length), leeway === none ? 5 : indexOf(leeway)];
  if (most < ending.length) fail("ValueError", `expected length >= ${ending.length}, got ${most}`);
  if (text.length <= most + slack) return text;
  const cut = Str.join(text.characters().slice(0, most - ending.length));
  if (isTrue(kills)) return cut.plus(ending);
  return split(cut, " ", 1, true)[0]!.plus(ending);
}

function toJson(value: Value, args: Args): Value {
  const [ascii = false, indentBy = none, separators = none, sorts = false] = args.take("tojson", [
    "ensure_ascii",
    "indent",
    "separators",
    "sort_keys",
  ]);
  const [comma, colon] =
    separators === none
      ? [own(indentBy === none ? ", " : ","), own(": ")]
      : Array.from(iterate(separators), (one) => textOf(one, "tojson"));
  const margin =
    indentBy === none
      ? null
      : indentBy instanceof Str
        ? indentBy.text
        : " ".repeat(Math.max(0, Math.min(1000, indexOf(indentBy))));
  return json(value, {
    ascii: isTrue(ascii),
    indent: margin,
    comma: comma!,
    colon: colon!,
    sortsKeys: isTrue(sorts),
  });
}

export const textFilters: Filters = {
  capitalize: onText(capitalize),
  center: onText((text, args) => {
    const [width = 80n] = args.take("center", ["width"]);
    const wanted = indexOf(width);
    return center(text, own(" "), Math.max(0, wanted - text.length), wanted);
  }),
  e: escape,
  escape,
  forceescape: escape,
  format: onText((text, args) => {
    if (args.named.size > 0 && args.positional.length > 0) {
      fail("TypeError", "can't handle positional and keyword arguments at the same time");
    }
    const fields = [...args.named].map(([name, value]) => [own(name), value] as const);
    return percentFormat(text, fields.length > 0 ? new Dict(fields) : new Tuple(args.positional));
  }),
  indent,
  join(value, args) {
    const [separator = empty, attribute] = args.take("join", ["d", "attribute"]);
    const get = attributeGetter(attribute);
    return Str.join(
      Array.from(iterate(value), (item) => str(get(item))),
      str(separator),
    );
  },
  lower: onText((text) => text.mapped(text.text.toLowerCase())),
  pprint: (value) => repr(value),
  replace: onText((text, args) => {
    const [old, by, count = none] = args.take("replace", ["old", "new", "count"], 2);
    return replaceText(text, str(old!), str(by!), count === none ? -1 : indexOf(count));
  }),
  safe: onText((text) => text),
  string: onText((text) => text),
  striptags: onText(stripTags),
  title: onText((text) =>
    rewrite(text, /[^-\s({[<]+/g, (word) => {
      const first = String.fromCodePoint(word.codePointAt(0)!);
      return first.toUpperCase() + word.slice(first.length).toLowerCase();
    }),
  ),
  tojson: toJson,
  trim: onText((text, args) => {
    const [characters = none] = args.take("trim", ["chars"]);
    return strip(text, characters === none ? null : textOf(characters, "trim"), true, true);
  }),
  truncate,
  upper: onText((text) => text.mapped(text.text.toUpperCase())),
  urlencode: urlEncode,
  wordcount: onText((text) => {
    spend(text.text.length / 8);
    return BigInt(text.text.match(/[\p{L}\p{N}_]+/gu)?.length ?? 0);
  }),
  wordwrap: (value, args) => wrapText(textOf(value, "wordwrap"), args),
  xmlattr(value, args) {
    const [space = true] = args.take("xmlattr", ["autospace"]);
    if (!(value instanceof Dict))
      fail("TypeError", `xmlattr needs a mapping, not ${typeName(value)}`);
    const parts = [...value.entries()]
      .filter(([, item]) => item !== none && sizeOf(item) !== 0)
      .map(([key, item]) =>
        Str.join([escape(key, args) as Str, own('="'), escape(item, args) as Str, own('"')]),
      );
    const joined = Str.join(parts, own(" "));
    return isTrue(space) && parts.length > 0 ? own(" ").plus(joined) : joined;
  },
};
