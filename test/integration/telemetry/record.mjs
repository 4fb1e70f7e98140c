/** One agent's work recorded by Langfuse's and Braintrust's packages: `node record.mjs RECEIVER BRAINTRUST-FILE`. */
import { writeFileSync } from "node:fs";
import { trace } from "@opentelemetry/api";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { BraintrustSpanProcessor } from "@braintrust/otel";
import { LangfuseSpanProcessor } from "@langfuse/otel";
import {
  propagateAttributes,
  setLangfuseTracerProvider,
  startObservation,
} from "@langfuse/tracing";
import { _exportsForTestingOnly, initLogger } from "braintrust";

const [url, file] = process.argv.slice(2);
const asked = [{ role: "user", content: "How warm is Oslo?" }];
const call = {
  id: "c1",
  type: "function",
  function: { name: "look", arguments: '{"city":"Oslo"}' },
};
const called = { role: "assistant", content: null, tool_calls: [call] };
const after = [...asked, called, { role: "tool", tool_call_id: "c1", content: "cold" }];
const answer = { role: "assistant", content: "It is cold." };

const langfuse = new NodeTracerProvider({
  spanProcessors: [new LangfuseSpanProcessor({ publicKey: "pk", secretKey: "sk", baseUrl: url })],
});
langfuse.register();
setLangfuseTracerProvider(langfuse);
await propagateAttributes({ userId: "ann", sessionId: "s1" }, async () => {
  const agent = startObservation("assistant", {}, { asType: "agent" });
  for (const [input, output] of [
    [asked, called],
    [after, answer],
  ]) {
    const one = agent.startObservation("llm", { model: "m", input }, { asType: "generation" });
    one.update({ output, usageDetails: { input: 7, output: 3 } }).end();
  }
  const tool = { input: { city: "Oslo" }, output: "cold" };
  agent.startObservation("look", tool, { asType: "tool" }).end();
  agent.end();
});
await langfuse.forceFlush();
trace.disable();

const braintrust = new NodeTracerProvider({
  spanProcessors: [
    new BraintrustSpanProcessor({ apiKey: "k", apiUrl: url, parent: "project_name:p" }),
  ],
});
const part = (role, content) => ({ role, parts: [{ type: "text", content }] });
const said = {
  "gen_ai.operation.name": "chat",
  "gen_ai.request.model": "m",
  "gen_ai.input.messages": JSON.stringify([part("user", "Hello?")]),
  "gen_ai.output.messages": JSON.stringify([part("assistant", "Hi!")]),
};
braintrust.getTracer("t").startSpan("chat m", { attributes: said }).end();
await braintrust.forceFlush();

// Its own logger, with what it would send kept: the events that an export has.
_exportsForTestingOnly.setInitialTestState();
await _exportsForTestingOnly.simulateLoginForTests();
const kept = _exportsForTestingOnly.useTestBackgroundLogger();
const logger = initLogger({ projectName: "p", projectId: "p", setCurrent: false });
await logger.traced(
  async (root) => {
    await root.traced(
      async (span) => {
        const metadata = { model: "m", session_id: "s2" };
        span.log({ input: asked, output: answer, metadata, metrics: { prompt_tokens: 7 } });
      },
      { name: "llm", type: "llm" },
    );
    root.log({ input: "x", output: "y", scores: { helpful: 1 } });
  },
  { name: "assistant", type: "task" },
);
const events = await kept.drain();
writeFileSync(file, events.map((event) => `${JSON.stringify(event)}\n`).join(""));
