/**
 * Server-sent events from text in chunks. Tolerates every line ending, comments and fields it does not
 * know; an event that repeats the id of the one before is dropped.
 */
export class EventReader {
  #rest = "";
  #data: string[] = [];
  #id: string | undefined;
  #lastId: string | undefined;

  /** The data of the events that this text completes. */
  push(text: string): string[] {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() as string;
    const complete: string[] = [];
    for (const line of lines) {
      const data = this.#line(line.endsWith("\r") ? line.slice(0, -1) : line);
      if (data !== undefined) complete.push(data);
    }
    return complete;
  }

  /** What the end of the stream completes: some servers omit the last empty line. */
  end(): string[] {
    return this.push("\n\n");
  }

  #line(line: string): string | undefined {
    if (line === "") return this.#complete();
    if (line.startsWith("data:")) this.#data.push(line.slice(line[5] === " " ? 6 : 5));
    else if (line.startsWith("id:")) this.#id = line.slice(3).trim();
    return undefined;
  }

  #complete(): string | undefined {
    if (this.#data.length === 0) return undefined;
    const data = this.#data.join("\n");
    const isRepeated = this.#id !== undefined && this.#id === this.#lastId;
    this.#lastId = this.#id;
    this.#id = undefined;
    this.#data = [];
    return isRepeated ? undefined : data;
  }
}
