/** What opens the server: the key itself, or a token that it is exchanged for and that runs out. */
import { textOf, type Transport } from "./wire/transport.ts";

/** A token is renewed, in the background, when it has less than this left. */
const renewMs = 300_000;
/** After a renewal that failed. */
const renewAgainMs = 60_000;

export class Credentials {
  readonly #apiKey: string;
  #token: string | null = null;
  #renewAt = Infinity;
  #transport: Transport | null = null;

  constructor(apiKey: string) {
    this.#apiKey = apiKey;
  }

  /** From now on, the key is exchanged at `POST /auth/token`. */
  async useTokens(transport: Transport): Promise<void> {
    this.#transport = transport;
    await this.#renew();
  }

  readonly current = async (): Promise<string> => {
    if (Date.now() >= this.#renewAt) {
      this.#renewAt = Date.now() + renewAgainMs;
      // The token still holds for minutes; when it does not, the server says so.
      void this.#renew().catch(() => undefined);
    }
    return this.#token ?? this.#apiKey;
  };

  async #renew(): Promise<void> {
    const transport = this.#transport!;
    const response = await transport.send({
      method: "POST",
      path: transport.route("auth/token"),
      json: {},
      headers: { "x-api-key": this.#apiKey },
    });
    // Not the transport's reading, whose errors quote the response: it is a key.
    const { jwt } = JSON.parse(textOf(response)) as { jwt: string };
    const payload = Buffer.from(jwt.split(".")[1] ?? "", "base64url").toString();
    const { exp = 0 } = JSON.parse(payload === "" ? "{}" : payload) as { exp?: number };
    this.#token = jwt;
    this.#renewAt = exp * 1000 - renewMs;
  }
}
