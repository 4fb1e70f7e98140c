import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { exitCodeOf } from "../../src/cli/terminal/exit-codes.ts";
import * as errors from "../../src/core/errors.ts";
import type { ErrorCode } from "../../src/core/errors.ts";
import { StoreError } from "../../src/gateway/store/store-error.ts";
import { UpstreamError } from "../../src/gateway/targets/workers/upstream-error.ts";
import { VerlError } from "../../src/backends/verl/verl-error.ts";
import { HubError } from "../../src/models/hub/hub-error.ts";
import { FireworksError } from "../../src/backends/fireworks/index.ts";
import { TinkerError } from "../../src/tinker-api/tinker-error.ts";
import { readPage, root, tableRows, unquoted } from "./pages.ts";

// The union of codes is a type, so it is gone when the program runs.
const source = readFileSync(join(root, "src/core/errors.ts"), "utf8");
const union = /export type ErrorCode =([^;]*);/u.exec(source)?.[1] ?? "";
const codes = [...union.matchAll(/"(\w+)"/gu)].map((match) => match[1] as ErrorCode);
const rows = tableRows(readPage("docs/errors.md"), "code");

it("lists exactly the codes there are, in their order", () => {
  expect(codes.length).toBeGreaterThan(10);
  expect(rows.map(([code]) => unquoted(code!))).toEqual(codes);
});

it.each(rows)("%s: class, exit status, cause and remedy", (code, name, exit, when, remedy) => {
  expect([
    ...Object.keys(errors),
    StoreError.name,
    UpstreamError.name,
    HubError.name,
    TinkerError.name,
    FireworksError.name,
    VerlError.name,
  ]).toContain(unquoted(name));
  const error = new errors.AgentTrainerError({ code: unquoted(code) as ErrorCode, message: "" });
  expect(exit).toBe(String(exitCodeOf(error)));
  expect(when).not.toBe("");
  expect(remedy).not.toBe("");
});
