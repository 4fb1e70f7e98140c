/** The body of a request: bounded as it comes and once it is unpacked. */
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { type ByteBudget, readBytes } from "../../http/bodies.ts";

const unzip = promisify(gunzip);

/** A request that is refused, with the status that says whether to send it again. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface BodyLimits {
  /** Bytes of one body, packed or not. */
  readonly maxBytes: number;
  /** Bytes of all that are in memory. */
  readonly budget: ByteBudget;
}

/** gzip packs at most a thousand to one. */
const maxUnpacked = 4;

/** Runs `use` with the whole body, which counts against the budget meanwhile. @throws Refusal */
export async function withBody<T>(
  request: Request,
  { maxBytes, budget }: BodyLimits,
  use: (body: Buffer) => Promise<T>,
): Promise<T> {
  let held = 0;
  const count = (bytes: number): void => {
    if (!budget.take(bytes))
      throw new Refusal(503, "Too many requests are in memory; send it again.");
    held += bytes;
  };
  try {
    const encoding = request.headers.get("content-encoding")?.toLowerCase() ?? "identity";
    if (encoding !== "identity" && encoding !== "gzip")
      throw new Refusal(415, `The encoding ${encoding.slice(0, 40)} is not supported; gzip is.`);
    if (request.body === null) return await use(Buffer.alloc(0));
    const { bytes, isTooLarge } = await readBytes(request.body, { maxBytes, count });
    if (isTooLarge) throw new Refusal(413, `A body may have ${maxBytes} bytes.`);
    if (encoding === "identity") return await use(bytes);
    const unpacked = await unpack(bytes, maxUnpacked * maxBytes);
    count(unpacked.length);
    return await use(unpacked);
  } finally {
    budget.give(held);
  }
}

async function unpack(bytes: Buffer, maxOutputLength: number): Promise<Buffer> {
  try {
    return await unzip(bytes, { maxOutputLength });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE")
      throw new Refusal(413, `A body may have ${maxOutputLength} bytes once it is unpacked.`);
    throw new Refusal(400, "The body is no gzip.");
  }
}
