/** Adapters to download, plain and encrypted, as newer clients ask for them. */
import {
  createDecipheriv,
  createHmac,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
} from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { encryptToRecipients, readRecipient } from "../../src/tinker-server/checkpoints/age.ts";
import { startServer, token, type LocalServer } from "./local-server.ts";
import { rawClient, type Json, type RawClient } from "./raw-client.ts";

let local: LocalServer;
let raw: RawClient;
beforeAll(async () => {
  local = await startServer();
  raw = rawClient(local.server);
});
afterAll(() => local[Symbol.asyncDispose]());

const key = { "x-api-key": token };

async function exportWeights(modelId: string, seqId: number, name: string, more: Json = {}) {
  const body = { model_id: modelId, seq_id: seqId, path: name, ttl_seconds: 3600, ...more };
  return raw.resultOf(await raw.post("save_weights_external", body));
}

async function urlsOf(modelId: string, name: string): Promise<Record<string, string>> {
  const route = `training_runs/${modelId}/checkpoints/external_weights/${name}/external_weights_urls`;
  const { urls, expires } = (await (await raw.send("GET", route, key)).json()) as {
    urls: Record<string, string>;
    expires: string;
  };
  // Clients ask anew from five minutes before.
  expect(Date.parse(expires)).toBeGreaterThan(Date.now() + 10 * 60_000);
  return urls;
}

function fetchBytes(url: string): Promise<Response> {
  return local.server.fetch(new Request(url));
}

it("gives each file of an adapter a URL that needs no key, until the checkpoint is deleted", async () => {
  const modelId = await raw.createModel();
  const saved = await exportWeights(modelId, 1, "first");
  const path = `tinker://${modelId}/external_weights/first`;
  expect(saved).toMatchObject({ type: "save_weights_external", path });
  expect(saved["size_bytes"]).toBeGreaterThan(1000);
  const urls = await urlsOf(modelId, "first");
  expect(Object.keys(urls).toSorted()).toEqual([
    "adapter_config.json",
    "adapter_model.safetensors",
  ]);
  const config = await fetchBytes(urls["adapter_config.json"]!);
  const { r, peft_type: type } = (await config.json()) as Json;
  expect([r, type]).toEqual([2, "LORA"]);
  const weights = await fetchBytes(urls["adapter_model.safetensors"]!);
  const length = Number(weights.headers.get("content-length"));
  expect((await weights.arrayBuffer()).byteLength).toBe(length);
  const base = urls["adapter_config.json"]!.replace("/adapter_config.json", "");
  for (const other of ["checkpoint.json", "..%2frun.json", "%2e%2e%2f%2e%2e%2frun.json"])
    expect((await fetchBytes(`${base}/${other}`)).status, other).toBe(404);
  const listed = await raw.send("GET", `training_runs/${modelId}/checkpoints`, key);
  const { checkpoints } = (await listed.json()) as { checkpoints: Json[] };
  expect(checkpoints).toMatchObject([{ checkpoint_type: "external", tinker_path: path }]);
  const route = `training_runs/${modelId}/checkpoints/external_weights/first`;
  expect((await raw.send("DELETE", route, key)).status).toBe(204);
  expect((await fetchBytes(urls["adapter_config.json"]!)).status).toBe(404);
});

it("loads and samples from other kinds, and says so", async () => {
  const modelId = await raw.createModel();
  await exportWeights(modelId, 1, "only");
  const path = `tinker://${modelId}/external_weights/only`;
  const load = await raw.post("load_weights", {
    model_id: modelId,
    seq_id: 2,
    path,
    optimizer: false,
  });
  expect(await raw.resultOf(load)).toMatchObject({
    category: "user",
    error: expect.stringContaining("is for download"),
  });
  const state = await raw.post("save_weights", { model_id: modelId, seq_id: 3, path: "state" });
  expect(await raw.resultOf(state)).toMatchObject({ type: "save_weights" });
  const wrong = `training_runs/${modelId}/checkpoints/weights/state/external_weights_urls`;
  expect((await raw.send("GET", wrong, key)).status).toBe(400);
});

// Bech32, by its specification; the other direction of what the server reads.
const alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
function polymod(values: readonly number[]): number {
  let sum = 1;
  for (const value of values) {
    const top = Math.floor(sum / 2 ** 25);
    sum = ((sum & 0x1ffffff) << 5) ^ value;
    const generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
    for (let i = 0; i < 5; i++) if ((top >> i) & 1) sum ^= generators[i]!;
    sum >>>= 0;
  }
  return sum;
}
function recipientOf(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  const words = bits
    .padEnd(260, "0")
    .match(/.{5}/gu)!
    .map((five) => Number.parseInt(five, 2));
  const prefix = [3, 3, 3, 0, 1, 7, 5];
  const sum = polymod([...prefix, ...words, 0, 0, 0, 0, 0, 0]) ^ 1;
  const check = Array.from({ length: 6 }, (_, i) => (sum >>> (5 * (5 - i))) & 31);
  return `age1${[...words, ...check].map((word) => alphabet[word]).join("")}`;
}

function identity(): { recipient: string; decrypt: (file: Uint8Array) => Buffer } {
  const { publicKey, privateKey } = generateKeyPairSync("x25519");
  const own = Buffer.from(publicKey.export({ format: "jwk" }).x!, "base64url");
  const derive = (secret: Uint8Array, salt: Uint8Array, info: string): Buffer =>
    Buffer.from(hkdfSync("sha256", secret, salt, info, 32));
  const open = (secret: Uint8Array, nonce: Uint8Array, box: Uint8Array): Buffer => {
    const cipher = createDecipheriv("chacha20-poly1305", secret, nonce, { authTagLength: 16 });
    cipher.setAuthTag(box.subarray(-16));
    return Buffer.concat([cipher.update(box.subarray(0, -16)), cipher.final()]);
  };
  const decrypt = (file: Uint8Array): Buffer => {
    const text = Buffer.from(file).toString("latin1");
    const header = /^age-encryption\.org\/v1\n(?:-> X25519 \S{43}\n\S{43}\n)+---/u.exec(text)![0];
    const mac = text.slice(header.length + 1, header.length + 44);
    for (const [, share, wrapped] of header.matchAll(/-> X25519 (\S+)\n(\S+)\n/gu)) {
      const theirs = Buffer.from(share!, "base64");
      const x = theirs.toString("base64url");
      const peer = createPublicKey({ format: "jwk", key: { kty: "OKP", crv: "X25519", x } });
      const secret = diffieHellman({ privateKey, publicKey: peer });
      const wrap = derive(secret, Buffer.concat([theirs, own]), "age-encryption.org/v1/X25519");
      let fileKey: Buffer;
      try {
        fileKey = open(wrap, Buffer.alloc(12), Buffer.from(wrapped!, "base64"));
      } catch {
        continue;
      }
      const expected = createHmac("sha256", derive(fileKey, Buffer.alloc(0), "header"))
        .update(header)
        .digest("base64");
      expect(`${mac}=`).toBe(expected);
      const body = Buffer.from(file).subarray(header.length + 45);
      const payload = derive(fileKey, body.subarray(0, 16), "payload");
      const parts: Buffer[] = [];
      for (let at = 16, i = 0; at < body.length; at += 65_552, i++) {
        const nonce = Buffer.alloc(12);
        nonce.writeUInt32BE(i, 7);
        nonce[11] = at + 65_552 >= body.length ? 1 : 0;
        parts.push(open(payload, nonce, body.subarray(at, at + 65_552)));
      }
      return Buffer.concat(parts);
    }
    throw new Error("There is nothing for this identity.");
  };
  return { recipient: recipientOf(own), decrypt };
}

it.each([0, 1, 65_535, 65_536, 65_537, 200_000])("encrypts %d bytes as age does", (length) => {
  const content = Buffer.from(Array.from({ length }, (_, i) => i % 251));
  const [one, other, stranger] = [identity(), identity(), identity()];
  const keys = [one, other].map(({ recipient }) => readRecipient(recipient));
  const file = encryptToRecipients(content, keys);
  expect(one.decrypt(file).equals(content)).toBe(true);
  expect(other.decrypt(file).equals(content)).toBe(true);
  expect(() => stranger.decrypt(file)).toThrow("nothing for this identity");
});

it("encrypts exports to the keys that a client names", async () => {
  const modelId = await raw.createModel();
  const { recipient, decrypt } = identity();
  await exportWeights(modelId, 1, "plain");
  const saved = await exportWeights(modelId, 2, "secret", {
    age_encryption_recipients: [recipient],
  });
  expect(saved).toMatchObject({ type: "save_weights_external" });
  const plain = await urlsOf(modelId, "plain");
  const secret = await urlsOf(modelId, "secret");
  expect(Object.keys(secret)).toEqual(Object.keys(plain).map((name) => `${name}.age`));
  for (const [name, url] of Object.entries(plain)) {
    const expected = Buffer.from(await (await fetchBytes(url)).arrayBuffer());
    const file = Buffer.from(await (await fetchBytes(secret[`${name}.age`]!)).arrayBuffer());
    expect(file.includes(expected.subarray(0, 40))).toBe(false);
    expect(decrypt(file).equals(expected)).toBe(true);
  }
});

it("refuses recipients that it cannot encrypt to, by name", async () => {
  // The example of age's documentation is a key; with a letter changed it is none.
  const known = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";
  expect(readRecipient(known)).toHaveLength(32);
  const modelId = await raw.createModel();
  const wrong = [known.replace("ql3", "qm3"), "ssh-ed25519 AAAA", "age1", ""];
  for (const [i, recipient] of wrong.entries()) {
    const more = { age_encryption_recipients: [recipient] };
    expect(await exportWeights(modelId, i + 1, "x", more)).toMatchObject({
      category: "user",
      error: expect.stringContaining("is no recipient"),
    });
  }
});
