import { expect, it } from "vitest";
import { FaultPolicy, type Fault, type FaultRules } from "./fault-policy.ts";

const fault = (status: number | null, spentMs: number = 0): Fault => ({
  status,
  detail: "",
  headers: new Headers(),
  spentMs,
  error: new Error(`status ${status}`),
});

/** 500 is tried again at once, once; 429 later; nothing else is. */
const rules: FaultRules = {
  backOff: { firstMs: 100, maxMs: 400 },
  patienceMs: 1000,
  meaningOf: ({ status, error }, _kind, seen) => {
    if (status === 429) return { do: "later" };
    if (status === null) return { do: "later", wishMs: 50 };
    if (status < 500) return { do: "fail", error };
    return seen === 1 ? { do: "retry", afterMs: 0 } : { do: "later" };
  },
  exhausted: (_, { request }, failures) => new Error(`${request}: ${failures} failures`),
};

const newPolicy = (): FaultPolicy => new FaultPolicy(rules, "submit", { request: "POST /x" });

it("backs off until patience is at its end", () => {
  const policy = newPolicy();
  for (const afterMs of [100, 200, 400])
    expect(policy.after(fault(429))).toEqual({ do: "retry", afterMs });
  expect(policy.after(fault(429))).toMatchObject({ error: { message: "POST /x: 4 failures" } });
});

it("counts the time that failed attempts took, and waits as long as the server wishes", () => {
  const policy = newPolicy();
  expect(policy.after(fault(null, 940))).toEqual({ do: "retry", afterMs: 50 });
  expect(policy.after(fault(null))).toMatchObject({ do: "fail" });
});

it("counts server errors together, and starts anew after a success", () => {
  const policy = newPolicy();
  const now = { do: "retry", afterMs: 0 };
  expect(policy.after(fault(500))).toEqual(now);
  expect(policy.after(fault(503))).toEqual({ do: "retry", afterMs: 100 });
  policy.recovered();
  expect(policy.after(fault(502))).toEqual(now);
});

it("fails with the server's error where waiting cannot help", () => {
  const { error, ...rest } = fault(422);
  expect(newPolicy().after({ error, ...rest })).toEqual({ do: "fail", error });
});
