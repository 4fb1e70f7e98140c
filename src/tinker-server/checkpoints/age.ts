/**
 * Files encrypted to X25519 recipients in the format of age (https://age-encryption.org/v1): the
 * holder of the identity reads them with `age -d`.
 */
import {
  createCipheriv,
  createHmac,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  randomBytes,
  type KeyObject,
} from "node:crypto";
import { RequestError } from "../request-error.ts";

const intro = "age-encryption.org/v1";
const chunkBytes = 64 * 1024;
const keyBytes = 32;

function sealed(key: Uint8Array, nonce: Uint8Array, content: Uint8Array): Buffer {
  const cipher = createCipheriv("chacha20-poly1305", key, nonce, { authTagLength: 16 });
  return Buffer.concat([cipher.update(content), cipher.final(), cipher.getAuthTag()]);
}

function derive(secret: Uint8Array, salt: Uint8Array, info: string): Buffer<ArrayBuffer> {
  return Buffer.from(hkdfSync("sha256", secret, salt, info, keyBytes));
}

function unpadded(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64").replaceAll("=", "");
}

const alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];

/** https://github.com/bitcoin/bips/blob/master/bip-0173.mediawiki */
function checksum(values: readonly number[]): number {
  let sum = 1;
  for (const value of values) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ value;
    for (const [i, generator] of generators.entries()) if ((top >> i) & 1) sum ^= generator;
  }
  return sum >>> 0;
}

/** @throws RequestError 400 when it is no public key of age's own kind. */
export function readRecipient(text: string): Uint8Array {
  const refuse = (): never => {
    throw new RequestError(
      400,
      `"${text.slice(0, 80)}" is no recipient that this server encrypts to: "age1..." is, an SSH key is not.`,
    );
  };
  const prefix = "age";
  const word = text === text.toUpperCase() ? text.toLowerCase() : text;
  if (!word.startsWith(`${prefix}1`) || word.length !== prefix.length + 1 + 52 + 6) return refuse();
  const values = Array.from(word.slice(prefix.length + 1), (char) => alphabet.indexOf(char));
  const codes = Array.from(prefix, (char) => char.codePointAt(0)!);
  const expanded = [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)];
  if (values.includes(-1) || checksum([...expanded, ...values]) !== 1) return refuse();
  let bits = 0;
  let count = 0;
  const bytes: number[] = [];
  for (const value of values.slice(0, -6)) {
    bits = (bits << 5) | value;
    count += 5;
    if (count < 8) continue;
    count -= 8;
    bytes.push((bits >> count) & 0xff);
    bits &= (1 << count) - 1;
  }
  return bits === 0 && bytes.length === keyBytes ? Uint8Array.from(bytes) : refuse();
}

function publicKeyOf(bytes: Uint8Array): KeyObject {
  const x = Buffer.from(bytes).toString("base64url");
  return createPublicKey({ format: "jwk", key: { kty: "OKP", crv: "X25519", x } });
}

/** The file's key, wrapped for one recipient. */
function stanza(fileKey: Uint8Array, recipient: Uint8Array): string {
  const { publicKey, privateKey } = generateKeyPairSync("x25519");
  const share = Uint8Array.from(Buffer.from(publicKey.export({ format: "jwk" }).x!, "base64url"));
  const secret = diffieHellman({ privateKey, publicKey: publicKeyOf(recipient) });
  const key = derive(secret, Buffer.concat([share, recipient]), `${intro}/X25519`);
  const wrapped = sealed(key, new Uint8Array(12), fileKey);
  return `-> X25519 ${unpadded(share)}\n${unpadded(wrapped)}\n`;
}

/** @param recipients public keys, at least one. */
export function encryptToRecipients(
  content: Uint8Array,
  recipients: readonly Uint8Array[],
): Buffer {
  const fileKey = randomBytes(16);
  const stanzas = recipients.map((recipient) => stanza(fileKey, recipient)).join("");
  const header = `${intro}\n${stanzas}---`;
  const macKey = derive(fileKey, new Uint8Array(0), "header");
  const mac = createHmac("sha256", macKey).update(header).digest();
  const nonce = randomBytes(16);
  const key = derive(fileKey, nonce, "payload");
  const parts: Uint8Array[] = [Buffer.from(`${header} ${unpadded(mac)}\n`), nonce];
  const chunks = Math.max(1, Math.ceil(content.length / chunkBytes));
  for (let i = 0; i < chunks; i++) {
    // Eleven bytes count, the twelfth marks the last.
    const chunkNonce = Buffer.alloc(12);
    chunkNonce.writeUInt32BE(i, 7);
    chunkNonce[11] = i === chunks - 1 ? 1 : 0;
    parts.push(sealed(key, chunkNonce, content.subarray(i * chunkBytes, (i + 1) * chunkBytes)));
  }
  return Buffer.concat(parts);
}
