import { expect, it } from "vitest";
import { EventReader, readEvents, type ServerEvent } from "./events.ts";
import { HttpFault } from "./http-fault.ts";

const text =
  "\uFEFF: hello\n\nevent: a\ndata: é\ndata: 🙂\n\nid: 7\r\ndata:{}\r\n\r\nretry: 3\n\ndata: last\n\n";
const expected = [
  { event: "a", data: "é\n🙂", id: undefined },
  { event: undefined, data: "{}", id: "7" },
  { event: undefined, data: "last", id: undefined },
];

it("reads the same events wherever their bytes are cut", () => {
  const bytes = Buffer.from(text);
  for (let at = 0; at <= bytes.length; at++) {
    const reader = new EventReader();
    const events = [...reader.push(bytes.subarray(0, at)), ...reader.push(bytes.subarray(at))];
    expect(events, `cut at ${at}`).toEqual(expected);
  }
});

it("ends the last event with the body, where it is asked to", () => {
  const reader = new EventReader();
  expect(reader.push(Buffer.from("data: 1\n\ndata: 2"))).toMatchObject([{ data: "1" }]);
  expect(reader.end()).toMatchObject([{ data: "2" }]);
});

it("reads the events of a response up to a limit", async () => {
  const read = async (maxBytes: number): Promise<ServerEvent[]> => {
    const events: ServerEvent[] = [];
    for await (const event of readEvents(new Response(text), { maxBytes })) events.push(event);
    return events;
  };
  expect(await read(1000)).toEqual(expected);
  await expect(read(10)).rejects.toThrow(HttpFault);
});

it("lets go of a stream that is no longer read", async () => {
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new TextEncoder().encode("data: 1\n\n")),
    cancel: () => void (isCancelled = true),
  });
  for await (const { data } of readEvents(new Response(body), { maxBytes: Infinity })) {
    expect(data).toBe("1");
    break;
  }
  expect(isCancelled).toBe(true);
});
