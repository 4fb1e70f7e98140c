/** All filters and tests by name, and those that apply one of them to each element of a list. */
import { fail } from "../errors.ts";
import { textOf } from "../numbers.ts";
import { Args, isTrue, Iter, iterate, type Value } from "../values.ts";
import { attributeGetter, type Filter, type Filters } from "./filter.ts";
import { listFilters } from "./lists.ts";
import { tests } from "./tests.ts";
import { textFilters } from "./texts.ts";

function* mapped(value: Value, args: Args): Generator<Value> {
  if (!isTrue(value)) return;
  const { positional, named } = args;
  const attribute = named.get("attribute");
  if (positional.length === 0 && attribute !== undefined) {
    const others = [...named.keys()].filter((name) => name !== "attribute" && name !== "default");
    if (others.length > 0) fail("TypeError", `Unexpected keyword argument '${others[0]!}'`);
    const get = attributeGetter(attribute, named.get("default"));
    for (const item of iterate(value)) yield get(item);
    return;
  }
  const [name, ...rest] = positional;
  if (name === undefined) fail("TypeError", "map requires a filter argument");
  const inner = new Args(rest, named);
  for (const item of iterate(value)) yield callFilter(textOf(name, "map").text, item, inner);
}

function* chosen(
  value: Value,
  args: Args,
  isKept: boolean,
  byAttribute: boolean,
): Generator<Value> {
  if (!isTrue(value)) return;
  const rest = [...args.positional];
  const attribute = byAttribute ? rest.shift() : undefined;
  if (byAttribute && attribute === undefined) {
    fail("TypeError", "Missing parameter for attribute name");
  }
  const get = attributeGetter(attribute);
  const name = rest.shift();
  const inner = new Args(rest, args.named);
  const test = (item: Value): boolean =>
    name === undefined ? isTrue(item) : callTest(textOf(name, "select").text, item, inner);
  for (const item of iterate(value)) if (test(get(item)) === isKept) yield item;
}

const choosing =
  (isKept: boolean, byAttribute: boolean): Filter =>
  (value, args) =>
    new Iter("select_or_reject", chosen(value, args, isKept, byAttribute));

const filters: Filters = {
  ...textFilters,
  ...listFilters,
  map: (value, args) => new Iter("sync_do_map", mapped(value, args)),
  select: choosing(true, false),
  reject: choosing(false, false),
  selectattr: choosing(true, true),
  rejectattr: choosing(false, true),
};

export function callFilter(name: string, value: Value, args: Args): Value {
  if (!Object.hasOwn(filters, name)) fail("TemplateError", `No filter named '${name}'.`);
  return filters[name]!(value, args);
}

export function callTest(name: string, value: Value, args: Args): boolean {
  if (name === "filter" || name === "test") {
    return Object.hasOwn(name === "filter" ? filters : tests, textOf(value, name).text);
  }
  if (!Object.hasOwn(tests, name)) fail("TemplateError", `No test named '${name}'.`);
  return tests[name]!(value, args);
}
