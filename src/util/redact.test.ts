import { expect, it } from "vitest";
import { redact, redactKept, redactOptions } from "./redact.ts";

const pem = [
  "-----BEGIN OPENSSH PRIVATE KEY-----",
  "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW",
  "-----END OPENSSH PRIVATE KEY-----",
].join("\n");
const secret = "hunter2-and-3";

it.each([
  ["a key of Fireworks", "fw_3ZfAbCdEfGhIjKlMnOpQrS", "fw_3Zf"],
  ["a key of GitLab", "glpat-AbCdEfGhIjKlMnOpQrSt", "AbCdEf"],
  ["a key of Replicate", "r8_0123456789abcdefghijABCDEFGHIJ0123456", "0123456"],
  ["a private key", pem, "b3Blbn"],
  ["a private key in JSON", JSON.stringify({ key: pem }), "b3Blbn"],
  ["an encrypted private key", pem.replace("b3B", "DEK-Info: AES-128-CBC,1F\n\nb3B"), "b3Blbn"],
  ["a private key that is cut off", pem.slice(0, 80), "b3Blbn"],
  ["JSON", JSON.stringify({ api_key: secret }), secret],
  ["JSON in JSON", JSON.stringify(JSON.stringify({ api_key: secret })), secret],
  [
    "JSON in JSON in JSON",
    JSON.stringify(JSON.stringify(JSON.stringify({ "x-api-key": secret, b: 1 }))),
    secret,
  ],
  ["a value with spaces in quotes", '{"password": "correct horse battery"}', "battery"],
  ["a variable of a command", `API_KEY=${secret} python agent.py`, secret],
  ["an argument of a command", `agent --api-key ${secret} --n 3`, secret],
  ["an argument with =", `agent --llm-token=${secret}`, secret],
  ["a password with @", "postgres://me:pa@ss:w0rd@db.example/x", "w0rd"],
  ["a password without a user", "redis://:hunter2@cache:6379", "hunter2"],
  ["a signed URL", "https://a.example/x?X-Amz-Signature=0123456789abcdef&x=1", "0123456789"],
])("hides %s, and nothing around it", (_name, text, hidden) => {
  const clean = redact(`before ${text} after`);
  expect(clean).not.toContain(hidden);
  expect(clean).toContain("[redacted]");
  expect(clean).toMatch(/^before .* after$/su);
  expect(redact(clean)).toBe(clean);
});

it("keeps JSON what it is", () => {
  const inner = { api_key: secret, model: "m", n: 1 };
  const clean = redact(JSON.stringify({ body: JSON.stringify(inner) }));
  const { body } = JSON.parse(clean) as { body: string };
  expect(JSON.parse(body)).toEqual({ ...inner, api_key: "[redacted]" });
});

it.each([
  "The token limit is 5; task-session-0 has 3",
  "Set a key with --key or AGENT_TRAINER_SERVE_KEY",
  "--token names the variable",
  '{"prompt_tokens": 1234567, "max_tokens": 4096}',
  "http://127.0.0.1:8080/a and someone@example.com",
  "glue-sst2 and r8_x",
])("leaves %j as it is", (text) => {
  expect(redact(text)).toBe(text);
});

it.each([
  ["eyJ", "eyJaaaaaaaa-"],
  ["names", 'token="'],
  ["names without ends", "token='aaaaaaa\""],
  ["escapes", '\\\\\\"'],
  ["escapes after a name", 'token\\\\\\"'],
  ["URLs", "//a:b"],
  ["PEM", "-----BEGIN PRIVATE KEY-----"],
  ["options", "--a-"],
  ["options with spaces", "--token    "],
  ["bearer", "bearer    "],
  ["prefixes", "sk-fc-SG."],
  ["names of variables", "A_KEY"],
  ["names of services", "wandb aws_secret0"],
])("takes a time that grows as the text, of many %s", (_name, part) => {
  const text = part.repeat(Math.ceil(1_600_000 / part.length));
  const start = performance.now();
  redact(text);
  redactKept(text);
  // A tenth of a second; in quadratic time, minutes.
  expect(performance.now() - start).toBeLessThan(10_000);
});

it("keeps names and paths of options, and hides what is in addresses and commands", () => {
  expect(
    redactOptions({
      model: { name: "./hf_smollm2_base_model" },
      url: "https://me:hunter22@mlflow.example",
      run: `python hf_runner.py --api-key ${secret}`,
      list: [`KEY_TOKEN=${secret}`, 3, null],
    }),
  ).toEqual({
    model: { name: "./hf_smollm2_base_model" },
    url: "https://[redacted]@mlflow.example",
    run: "python hf_runner.py --api-key [redacted]",
    list: ["KEY_TOKEN=[redacted]", 3, null],
  });
});
