/** Large batches cut into several requests, and their results put together again. */
import type { Datum, ForwardBackwardOutput } from "./messages.ts";

export interface ChunkLimits {
  /** Datums of one request. */
  readonly datums: number;
  /** Bytes of one request, by estimate; a single datum above it goes alone. */
  readonly bytes: number;
}

export const defaultChunkLimits: ChunkLimits = { datums: 1024, bytes: 5_000_000 };

/** As protobuf: 4 bytes a token, 4 a float, 8 an id. */
function estimateBytes({ tokens, lossInputs }: Datum): number {
  let bytes = 4 * tokens.length;
  for (const { dtype, data } of Object.values(lossInputs))
    bytes += (dtype === "int64" ? 8 : 4) * data.length;
  return bytes;
}

/** Greedy and in order. @param bytesOf size of a datum on the wire. @default as protobuf */
export function cutIntoChunks(
  data: readonly Datum[],
  limits: ChunkLimits,
  bytesOf: (datum: Datum) => number = estimateBytes,
): readonly Datum[][] {
  const chunks: Datum[][] = [];
  let room = 0;
  for (const datum of data) {
    const bytes = bytesOf(datum);
    const last = chunks.at(-1);
    if (last === undefined || bytes > room || last.length === limits.datums) {
      chunks.push([datum]);
      room = limits.bytes - bytes;
    } else {
      last.push(datum);
      room -= bytes;
    }
  }
  return chunks;
}

/** Outputs in the order of the datums; metrics by the rule behind the colon of their names. */
export function joinOutputs(parts: readonly ForwardBackwardOutput[]): ForwardBackwardOutput {
  if (parts.length === 1) return parts[0]!;
  const metrics: Record<string, number> = {};
  for (const name of Object.keys(parts[0]?.metrics ?? {})) {
    if (!parts.every((part) => name in part.metrics)) continue;
    const values = parts.map((part) => part.metrics[name]!);
    const counts = parts.map(({ outputs }) => outputs.length);
    const rule = name.slice(name.lastIndexOf(":") + 1);
    if (rule === "unique")
      for (const [i, value] of values.entries()) metrics[i === 0 ? name : `${name}_${i}`] = value;
    else {
      const value = reduce(rule, values, counts);
      if (value !== null) metrics[name] = value;
    }
  }
  const { outputType = "" } = parts[0] ?? {};
  return { outputType, outputs: parts.flatMap(({ outputs }) => outputs), metrics };
}

/** null for a rule that is not known: no number is better than a wrong one. */
function reduce(rule: string, values: readonly number[], counts: readonly number[]): number | null {
  const mean = (): number => {
    const total = counts.reduce((sum, n) => sum + n, 0);
    return values.reduce((sum, value, i) => sum + value * counts[i]!, 0) / total;
  };
  switch (rule) {
    case "sum":
      return values.reduce((sum, value) => sum + value, 0);
    case "mean":
      return mean();
    case "min":
      return Math.min(...values);
    case "max":
      return Math.max(...values);
    case "slack":
      return Math.max(...values) - mean();
    default:
      return null;
  }
}
