/** Child: many clients on bare sockets, each waiting for its answer before the next call. */
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { answer as response } from "../harness/child-side.ts";
import { percentile } from "../harness/statistics.ts";
import { MessageFraming } from "./http-framing.ts";
import { pacedMaxTokens, pacedMs, type CallSize } from "./sizes.ts";
import { sampleWords } from "./words.ts";

/** Where calls go: the URLs of sessions, or one URL for all. */
export interface CallTarget {
  readonly path: string;
  readonly token: string;
}

export interface LoadInput {
  readonly port: number;
  /** Calls go around them. */
  readonly targets: readonly CallTarget[];
  readonly size: CallSize;
  readonly stream: boolean;
  readonly connections: number;
  /** Whether the server takes as long as a model does, instead of no time at all. */
  readonly paced: boolean;
  /** Answers before this time are not counted. */
  readonly warmUpMs: number;
  /** At least; it takes until there are as many answers as connections. */
  readonly durationMs: number;
}

export interface LoadOutput {
  readonly callsPerSecond: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
  /** Those of the warm-up, too. */
  readonly allCalls: number;
}

/** Different ones, so that no cache can answer. */
const variants = 64;

function createBodies({ size, stream, paced }: LoadInput): Buffer[] {
  const { promptTokens } = size;
  return Array.from({ length: variants }, (_, seed) => {
    const content = sampleWords(promptTokens, 1000 + seed).join("");
    const messages = [
      { role: "system", content: "You are a helpful assistant." },
      { role: "user", content },
    ];
    const sampling = { max_tokens: paced ? pacedMaxTokens : 1024, temperature: 1 };
    return Buffer.from(JSON.stringify({ model: "mock", messages, ...sampling, stream }));
  });
}

class Load {
  readonly latencies: number[] = [];
  allCalls = 0;
  readonly #input: LoadInput;
  readonly #bodies: readonly Buffer[];
  #next = 0;
  #countFrom = 0;
  #stoppedAt = Infinity;

  constructor(input: LoadInput) {
    this.#input = input;
    this.#bodies = createBodies(input);
  }

  async run(): Promise<void> {
    const { warmUpMs, connections, paced } = this.#input;
    this.#countFrom = performance.now() + warmUpMs;
    // Agents do not all begin at once; those that do would wait for each other for ever.
    const apartMs = paced ? pacedMs / connections : 0;
    await Promise.all(
      Array.from({ length: connections }, async (_, i) => {
        if (apartMs > 0) await delay(i * apartMs);
        await this.#client();
      }),
    );
  }

  get callsPerSecond(): number {
    return this.latencies.length / ((this.#stoppedAt - this.#countFrom) / 1000);
  }

  /** False when there is enough. */
  #count(now: number, latency: number): boolean {
    const { durationMs, connections } = this.#input;
    if (now < this.#countFrom) return true;
    if (this.#stoppedAt < Infinity) return false;
    this.latencies.push(latency);
    const isLate = now >= this.#countFrom + durationMs;
    if (isLate && this.latencies.length >= connections) this.#stoppedAt = now;
    return this.#stoppedAt === Infinity;
  }

  /** @throws Error for any answer but 200. */
  #client(): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = connect(this.#input.port, "127.0.0.1");
      const framing = new MessageFraming(false);
      let sentAt = 0;
      const call = (): void => {
        sentAt = performance.now();
        const body = this.#bodies[this.#next % variants] as Buffer;
        socket.cork();
        socket.write(this.#head(body.length), "latin1");
        socket.write(body);
        socket.uncork();
      };
      socket.setNoDelay(true);
      socket.once("connect", call);
      socket.once("error", reject);
      socket.once("close", () => {
        reject(new Error(`The server closed the connection after ${this.allCalls} calls.`));
      });
      socket.on("data", (chunk) => {
        if (!framing.push(chunk)) return;
        const now = performance.now();
        if (!framing.head.startsWith("http/1.1 200")) {
          reject(new Error(`A call was answered with: ${framing.head}`));
          socket.destroy();
          return;
        }
        framing.take();
        this.allCalls++;
        if (this.#count(now, now - sentAt)) call();
        else {
          resolve();
          socket.destroy();
        }
      });
    });
  }

  #head(length: number): string {
    const { targets, port } = this.#input;
    const { path, token } = targets[this.#next++ % targets.length] as CallTarget;
    return (
      `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\naccept: application/json\r\n` +
      `content-type: application/json\r\nauthorization: Bearer ${token}\r\ncontent-length: ${length}\r\n\r\n`
    );
  }
}

response(async (input: LoadInput) => {
  const load = new Load(input);
  await load.run();
  const { latencies, allCalls, callsPerSecond } = load;
  return {
    callsPerSecond,
    p50Ms: percentile(latencies, 0.5),
    p90Ms: percentile(latencies, 0.9),
    p99Ms: percentile(latencies, 0.99),
    allCalls,
  } satisfies LoadOutput;
});
