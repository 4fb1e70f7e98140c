/** As much of vitest as tests of operations use, for runtimes on which vitest itself does not start. */
import { format } from "node:util";
import { JestAsymmetricMatchers, JestChaiExpect, JestExtend } from "@vitest/expect";
import * as chai from "chai";

for (const plugin of [JestExtend, JestChaiExpect, JestAsymmetricMatchers]) chai.use(plugin);
export const expect = Object.assign((...values) => chai.expect(...values), chai.expect);

const tests = [];
let path = [];

const titled = (title, row) =>
  format(
    title.replaceAll(/\$(\w+)/g, (_, key) => String(row[0]?.[key])),
    ...row.slice(0, (title.match(/%/g) ?? []).length),
  );

const rowsOf = (table) => table.map((row) => (Array.isArray(row) ? row : [row]));

function withEach(add) {
  const own = (title, ...rest) =>
    add(
      title,
      rest.find((value) => typeof value === "function"),
    );
  const each = (table) => (title, body) => {
    for (const row of rowsOf(table)) add(titled(title, row), () => body(...row));
  };
  return Object.assign(own, {
    each,
    skip: () => {},
    skipIf: (skips) => (skips ? Object.assign(() => {}, { each: () => () => {} }) : own),
  });
}

export const describe = withEach((title, body) => {
  const before = path;
  path = [...path, title];
  body();
  path = before;
});
export const it = withEach((title, body) => {
  tests.push({ name: [...path, title].join(" > "), body });
});
export const test = it;
export const beforeAll = (body) => tests.push({ name: "before all", body });
export const afterAll = (body) => tests.push({ name: "after all", body });

/** Runs them in order and says how many failed. */
export async function runAll() {
  let failed = 0;
  for (const { name, body } of tests) {
    try {
      await body();
      if (process.env.VERBOSE) console.log(`ok ${name}`);
    } catch (error) {
      failed++;
      console.log(`FAILED ${name}\n${error.stack}`);
    }
  }
  console.log(`${tests.length - failed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}
