import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { writeHandedOver } from "../../runs/rounds/handed-over.ts";
import { roundFolder, writeRound } from "../../runs/rounds/round-file.ts";
import type { Round } from "../../runs/rounds/round.ts";
import { roundRows } from "./rounds.ts";

it("lists the rounds next to viewed runs, with feedback on their models", () => {
  const folder = mkdtempSync(join(tmpdir(), "rounds-"));
  const version = "round-000001@4-0";
  const model = join(folder, "round-000001/checkpoints/000004");
  const first: Round = {
    ...{ round: 1, status: "handed over", startedAt: 1, endedAt: 2, options: {}, store: "s" },
    inUse: { model: "builtin:shop-tiny", version: null },
    train: { with: "kto", steps: 4, candidate: { model, version } },
  };
  const second: Round = { ...first, round: 2, status: "running", endedAt: null };
  const { train: _none, ...running } = second;
  for (const round of [first, running]) {
    mkdirSync(roundFolder(folder, round.round));
    writeRound(folder, round);
  }
  writeHandedOver(folder, { round: 1, model, version });
  const runs = [{ folder: roundFolder(folder, 1), key: 7 }];
  const said = new Map([[version, { n: 4, sum: 3 }]]);
  expect(roundRows(runs, (store) => (store === "s" ? said : new Map()))).toMatchObject([
    { round: 1, run: 7, isNewest: true, feedback: { n: 4, sum: 3 }, curate: null, gate: null },
    { round: 2, run: null, isNewest: false, feedback: null, train: null },
  ]);
  expect(roundRows([{ folder: join(folder, "round-000001/other"), key: 0 }])).toEqual([]);
  rmSync(folder, { recursive: true });
});
