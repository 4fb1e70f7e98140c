import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { crc32, crc32c } from "../../src/trackers/checksums.ts";
import { TransactionLog } from "../../src/trackers/wandb/transaction-log.ts";
import { coinTrainer, newFolder, readLines } from "../trainer/coin-run.ts";

describe("checksums", () => {
  it("are the check values of their definitions", () => {
    // The catalogue of parametrised CRC algorithms: CRC-32/ISO-HDLC and CRC-32/ISCSI.
    const digits = new TextEncoder().encode("123456789");
    expect(crc32(digits)).toBe(0xcbf43926);
    expect(crc32c(digits)).toBe(0xe3069283);
  });
});

/** Reads LevelDB's log format as its description says. */
function readLog(bytes: Buffer): Buffer[] {
  const records: Buffer[] = [];
  let parts: Buffer[] = [];
  for (let at = 7; at < bytes.length;) {
    const room = 32_768 - (at % 32_768);
    if (room < 7) {
      expect(bytes.subarray(at, at + room)).toEqual(Buffer.alloc(room));
      at += room;
      continue;
    }
    const length = bytes.readUInt16LE(at + 4);
    const kind = bytes[at + 6]!;
    const piece = bytes.subarray(at + 7, at + 7 + length);
    expect(bytes.readUInt32LE(at)).toBe(crc32(bytes.subarray(at + 6, at + 7 + length)));
    expect(length + 7).toBeLessThanOrEqual(room);
    expect(parts.length === 0).toBe(kind === 1 || kind === 2);
    parts.push(piece);
    if (kind === 1 || kind === 4) {
      records.push(Buffer.concat(parts));
      parts = [];
    }
    at += 7 + length;
  }
  expect(parts).toEqual([]);
  return records;
}

describe("W&B's log", () => {
  it("holds records of any size, over the ends of blocks", () => {
    const log = new TransactionLog();
    const sizes = [0, 1, 32_747, 32_754, 32_755, 32_768, 7, 100_000, 3, 32_700, 40, 0];
    const records = sizes.map((size, i) => Buffer.alloc(size, i + 1));
    const bytes = Buffer.concat([log.header, ...records.map((record) => log.encode(record))]);
    const read = readLog(bytes);
    expect(read.map(({ length }) => length)).toEqual(sizes);
    for (const [i, record] of read.entries()) expect(record.equals(records[i]!)).toBe(true);
  });

  it("goes on under the id of the run that is resumed", async () => {
    const outputDir = newFolder();
    const run = async (steps: number): Promise<string> => {
      const { trainer } = coinTrainer({
        outputDir,
        resume: "auto",
        set: { "tracking.trackers": ["wandb"], "trainer.total_batches": steps },
      });
      return (await trainer.train()).runDir;
    };
    const runDir = await run(2);
    const [first] = readdirSync(join(runDir, "wandb")) as [string];
    expect(first).toMatch(/^offline-run-\d{8}_\d{6}-[0-9a-f]{8}$/u);
    const id = first.slice(-8);
    const file = readFileSync(join(runDir, "wandb", first, `run-${id}.wandb`));
    const texts = readLog(file).map((record) => record.toString("latin1"));
    expect(texts.filter((text) => text.includes("\x12\x05_step"))).toHaveLength(4);
    expect(texts.find((text) => text.includes("model.name"))).toContain('"coin"');
    await run(3);
    for (const name of readdirSync(join(runDir, "wandb"))) expect(name).toContain(id);
  });
});

describe("TensorBoard's files", () => {
  it("hold a scalar per metric and step, with its checksums", async () => {
    const { trainer } = coinTrainer({ set: { "tracking.trackers": ["tensorboard"] } });
    const { runDir } = await trainer.train();
    const [name] = readdirSync(join(runDir, "tensorboard")) as [string];
    const bytes = readFileSync(join(runDir, "tensorboard", name));
    const records: string[] = [];
    for (let at = 0; at < bytes.length;) {
      const length = Number(bytes.readBigUInt64LE(at));
      records.push(bytes.subarray(at + 12, at + 12 + length).toString("latin1"));
      at += 16 + length;
    }
    expect(records[0]).toContain("brain.Event:2");
    const steps = readLines(runDir, "metrics.jsonl").filter(({ phase }) => phase === "train");
    expect(records).toHaveLength(2 + steps.length);
    for (const [i, line] of steps.entries()) {
      const value = Buffer.alloc(4);
      value.writeFloatLE(line["reward/mean"] as number);
      const expected = `\n\vreward/mean\x15${value.toString("latin1")}`;
      expect(records[2 + i]).toContain(expected);
    }
  });
});
