/** Reads protobuf messages that come over the wire: what is none is an error of Tinker's API. */
import * as protobuf from "../../util/protobuf-reader.ts";
import { TinkerWireError } from "../tinker-error.ts";

export { readDouble, readString } from "../../util/protobuf-reader.ts";

function wireError(error: unknown): unknown {
  return error instanceof protobuf.ProtobufError ? new TinkerWireError(error.message) : error;
}

/** @throws TinkerWireError when the bytes are no message. */
export function* readFields(bytes: Uint8Array): Generator<protobuf.ProtoField> {
  try {
    yield* protobuf.readFields(bytes);
  } catch (error) {
    throw wireError(error);
  }
}

export function readPacked(bytes: Uint8Array): number[] {
  try {
    return protobuf.readPacked(bytes);
  } catch (error) {
    throw wireError(error);
  }
}
