/** What `collect` keeps: no keys, and all words and code. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { sharedCases } from "../../test/shared-cases.ts";
import { createRandom } from "../util/random.ts";
import { redactValues } from "./redact-values.ts";

/** Keys of every service, in its form; `x` draws letters and digits, `h` hexadecimal digits. */
const keys: readonly (readonly [
  string,
  (x: (n: number) => string, h: (n: number) => string) => string,
])[] = [
  ["LangSmith", (_x, h) => `lsv2_sk_${h(32)}_${h(10)}`],
  ["Perplexity", (x) => `pplx-${x(48)}`],
  ["Tavily", (x) => `tvly-dev-${x(32)}`],
  ["SendGrid", (x) => `SG.${x(22)}.${x(43)}`],
  ["Weights & Biases", (x) => `wandb_v1_${x(70)}`],
  ["Weights & Biases, by its variable", (_x, h) => `WANDB_API_KEY=${h(40)}`],
  ["Weights & Biases, by its name", (_x, h) => `wandb login ${h(40)}`],
  ["Databricks", (_x, h) => `dapi${h(32)}-2`],
  ["OpenReward", (x) => `ork-${x(32)}`],
  ["OpenReward, by its variable", (x) => `OPENREWARD_API_KEY=${x(32)}`],
  ["OpenAI", (x) => `sk-proj-${x(74)}T3BlbkFJ${x(74)}`],
  ["OpenAI, older", (x) => `sk-${x(48)}`],
  ["Anthropic", (x) => `sk-ant-api03-${x(93)}AA`],
  ["OpenRouter", (_x, h) => `sk-or-v1-${h(64)}`],
  ["Langfuse", (_x, h) => `sk-lf-${h(8)}-${h(4)}-${h(4)}-${h(4)}-${h(12)}`],
  ["Stripe", (x) => `sk_live_${x(24)}`],
  ["ElevenLabs", (_x, h) => `sk_${h(48)}`],
  ["Hugging Face", (x) => `hf_${x(34)}`],
  ["Groq", (x) => `gsk_${x(52)}`],
  ["xAI", (x) => `xai-${x(80)}`],
  ["NVIDIA", (x) => `nvapi-${x(64)}`],
  ["Fireworks", (x) => `fw_${x(24)}`],
  ["Tinker", (x) => `tml-${x(40)}`],
  ["Replicate", (x) => `r8_${x(37)}`],
  ["Together", (_x, h) => `TOGETHER_API_KEY=${h(64)}`],
  ["Cohere", (x) => `COHERE_API_KEY: "${x(40)}"`],
  ["Mistral", (x) => `export MISTRAL_API_KEY=${x(32)}`],
  ["AWS", () => "AKIAIOSFODNN7EXAMPLE"],
  ["AWS, secret", () => "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"],
  ["Google", (x) => `AIza${x(35)}`],
  ["GitHub", (x) => `ghp_${x(36)}`],
  ["GitHub, fine-grained", (x) => `github_pat_${x(22)}_${x(59)}`],
  ["GitLab", (x) => `glpat-${x(20)}`],
  ["Slack", (x) => `xoxb-123456789012-1234567890123-${x(24)}`],
  ["npm", (x) => `npm_${x(36)}`],
  ["PyPI", (x) => `pypi-AgEIcHlwaS5vcmc${x(120)}`],
  ["Twilio", (_x, h) => `SK${h(32)}`],
  ["Azure", (x) => `AccountKey=${x(86)}==`],
  ["Azure OpenAI", (_x, h) => `api-key: ${h(32)}`],
  ["MLflow", () => "MLFLOW_TRACKING_PASSWORD=Sommer2024"],
  ["Ray", (x) => `RAY_AUTH_TOKEN=${x(32)}`],
  ["this package", (x) => `session-${x(43)}`],
  ["a variable", (x) => `AGENT_TRAINER_SERVE_KEY=${x(32)}`],
  ["a JWT", (x) => `eyJhbGciOiJIUzI1NiJ9.${x(40)}.${x(43)}`],
  ["a header with a token", (_x, h) => `Authorization: Token ${h(40)}`],
  ["a header with a bearer", (x) => `"Authorization": "Bearer ${x(32)}"`],
  ["a header with a password", () => "Authorization: Basic dXNlcjpwYXNzd29yZA=="],
  ["a field", (x) => JSON.stringify({ api_key: x(32) })],
  ["a password in quotes", () => `password: "Tr0ub4dor&3"`],
  ["an argument", (x) => `--api-key ${x(32)}`],
  ["a signed URL", (x) => `https://example.com/a?sig=${x(32)}`],
  ["a database", () => "postgres://me:s3cretpw@db.example/x"],
  ["a connection string", () => "Server=db;User Id=sa;Password=Str0ng!Pass9;Encrypt=true"],
  ["a private key", () => "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----"],
];

const random = createRandom(1);
const drawn =
  (signs: string) =>
  (length: number): string =>
    Array.from({ length }, () => signs[Math.floor(random() * signs.length)]).join("");
const letters = drawn("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
const hexadecimal = drawn("0123456789abcdef");

it.each(keys)("hides 99 of 100 keys of %s, and nothing around them", (_name, make) => {
  let kept = 0;
  for (let i = 0; i < 300; i++) {
    const key = make(letters, hexadecimal);
    const clean = redactValues(`The key (${key}) is mine.`);
    if (clean.includes("[redacted]")) {
      expect(clean).toMatch(/^The key \(.*\) is mine\.$/su);
      expect(clean.replaceAll(/[A-Z_]{4,}|\[redacted\]|secret_access/gu, "")).not.toMatch(
        /[a-z\d]{17}/iu,
      );
    } else kept++;
  }
  expect(kept).toBeLessThanOrEqual(3);
});

describe("words and code", () => {
  it.each([
    "Give me a basic example, basic authentication and basic information",
    "Use bearer certificates, Bearer tokens or bearer bonds of 2024",
    "Authorization: Bearer YOUR_API_KEY, Authorization: Bearer <token>, Authorization: Token ${token}",
    "authorization: required; token: optional; secret: none; password: forbidden",
    "const token = tokenizer.decode(ids); let token = parseInt(value1, 10);",
    "function login(token: string, password: string | undefined, secret: Buffer)",
    "password: z.string().min(8).max(64), apiKey: config.apiKey2",
    "api_key=os.environ['OPENAI_API_KEY'] or api_key: ${API_KEY}",
    "secret: process.env.CLIENT_SECRET_2, password=password, token=sha256",
    'm.createUser({ name: "a", password: "correct horse battery" })',
    "from huggingface_hub import hf_hub_download; hf_smollm2_base_model_v2",
    "CONSTRAINT pk_user_settings_2024 PRIMARY KEY (id)",
    "sk-learn-pipeline, npm_config_registry, gsk_annual_report_2023, xai-explainable-models",
    "key-value-store-with-16-parts, fc-cluster-name-of-production, gl-inventory-service-name-long",
    "admin-dashboard-components-for-react-and-vue-projects",
    "session-3f2a9c1e-12ab-34cd-56ef-1234567890ab",
    "postgres://user:password@localhost/db and https://${USER}:${PASS}@host",
    "wandb login, then wandb.init(project='x'); --sort-key created_at_2024; ?key=primary_value",
    "commit 3f2a9c1e12ab34cd56ef1234567890ab3f2a9c1e, sha256:d41d8cd98f00b204e9800998ecf8427e",
    'if (text.startsWith("-----BEGIN PRIVATE KEY-----")) return "-----END PRIVATE KEY-----";',
    '{"nextPageToken": "EAAaBlBUOkNBVQ", "token": "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"}',
    "git@github.com:org/repo.git, http://any:TOKEN@host, ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    '{"prompt_tokens": 1234567, "token": "undefined", "tokens": ["a1", "b2"]}',
  ])("leaves %s", (text) => {
    expect(redactValues(text)).toBe(text);
  });
});

it("takes the name of a field for that of its value", () => {
  const key = "a1B2c3D4e5F6g7H8";
  expect(
    redactValues({ api_key: key, id: key, token: "string", list: [{ password: "Sommer2024" }] }),
  ).toEqual({
    api_key: "[redacted]",
    id: key,
    token: "string",
    list: [{ password: "[redacted]" }],
  });
});

interface Case {
  readonly kind: string;
  readonly text: string;
  readonly wanted: string;
}

const shared = sharedCases("training/privacy.json");
const cases = (
  shared === null ? [] : (JSON.parse(readFileSync(shared, "utf8")) as readonly Case[])
).filter(({ kind }) => kind === "no key" || kind === "a key");

describe("shared cases", () => {
  it("are at hand", (context) => {
    if (shared === null) context.skip("the folder of shared cases is missing");
    expect(cases.length).toBeGreaterThanOrEqual(14);
  });

  it.each(cases)("$kind: $text", ({ kind, text, wanted }) => {
    expect(redactValues(text)).toBe(kind === "no key" ? text : wanted);
  });
});
