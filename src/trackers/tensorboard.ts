/**
 * TensorBoard's event files: TFRecords of `tensorflow.Event`, in `tensorboard/` of the run folder.
 * https://github.com/tensorflow/tensorboard/blob/master/tensorboard/compat/proto/event.proto
 */
import { mkdir, open, type FileHandle } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import type { TrainerEvent } from "../core/events.ts";
import type { Tracker } from "../core/tracker.ts";
import { ProtoWriter } from "../util/protobuf-writer.ts";
import { crc32c } from "./checksums.ts";
import { numberEvents, numbersOf } from "./numbers.ts";

/** Fields of `Event`, `Summary.Value` and `SessionLog`. */
const fields = { wallTime: 1, step: 2, fileVersion: 3, summary: 5, sessionLog: 7 } as const;
const value = { tag: 1, simpleValue: 2 } as const;
const sessionStart = 1;

/** TFRecord: length, its checksum, the data, its checksum. Checksums are rotated and shifted. */
function record(data: Uint8Array): Uint8Array {
  const masked = (bytes: Uint8Array): number => {
    const crc = crc32c(bytes);
    return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
  };
  const bytes = new Uint8Array(16 + data.length);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, BigInt(data.length), true);
  view.setUint32(8, masked(bytes.subarray(0, 8)), true);
  bytes.set(data, 12);
  view.setUint32(12 + data.length, masked(data), true);
  return bytes;
}

function stamped(time: number, step: number): ProtoWriter {
  return new ProtoWriter().double(fields.wallTime, time / 1000).integer(fields.step, step);
}

/** What is written at the start: the version of the format, and where a resumed run goes on. */
function opening({ time, step }: TrainerEvent): Uint8Array[] {
  const version = new ProtoWriter().double(fields.wallTime, time / 1000);
  // Readers drop what an earlier file of the run says about this step and later ones.
  const start = new ProtoWriter().integer(1, sessionStart);
  return [
    record(version.string(fields.fileVersion, "brain.Event:2").finish()),
    record(
      stamped(time, step + 1)
        .message(fields.sessionLog, start)
        .finish(),
    ),
  ];
}

function scalars(time: number, step: number, numbers: readonly (readonly [string, number])[]) {
  const summary = new ProtoWriter();
  for (const [tag, number] of numbers) {
    summary.message(1, new ProtoWriter().string(value.tag, tag).float(value.simpleValue, number));
  }
  return record(stamped(time, step).message(fields.summary, summary).finish());
}

/** Writes metrics for `tensorboard --logdir RUN_FOLDER`; a line per step, flushed as it ends. */
export function createTensorBoardTracker(): Tracker {
  let file: FileHandle | null = null;
  return {
    name: "tensorboard",
    events: ["run-start", ...numberEvents],
    async track(event) {
      if (event.type === "run-start") {
        const folder = join(event.runDir, "tensorboard");
        await mkdir(folder, { recursive: true });
        const name = `events.out.tfevents.${Math.floor(event.time / 1000)}.${hostname()}.${process.pid}`;
        file = await open(join(folder, name), "a");
        await file.appendFile(Buffer.concat(opening(event)));
      }
      const numbers = numbersOf(event);
      if (numbers === undefined || numbers.length === 0) return;
      await file?.appendFile(scalars(event.time, event.step, numbers));
    },
    async close() {
      await file?.close();
    },
  };
}
