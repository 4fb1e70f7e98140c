/**
 * A chat template with a place for tools, for models whose own has none: what ChatML's renderer writes for them in
 * training, for the programs that a model is exported to.
 */
import { chooseRenderer, findDefaultSystem } from "./choose-renderer.ts";
import { callEnd, callStart } from "./tool-formats/tagged-calls.ts";
import { createJinjaRenderer } from "./jinja/jinja.ts";
import { hermesTools } from "./tool-formats/hermes.ts";
import { rendersAlike, writesTools } from "./probe.ts";
import { readTemplates } from "../tokenizers/model-files.ts";
import type { TokenizerFiles } from "../tokenizers/gguf-tokenizer.ts";
import { createTokenizer } from "../tokenizers/tokenizer.ts";
import { turnEnd, turnStart } from "./chatml-turns.ts";

/** Strings of Jinja are those of JSON. */
const quoted = (...texts: readonly string[]): string => JSON.stringify(texts.join(""));

const [toolsBefore = "", toolsAfter = ""] = hermesTools.describe([]).map(({ text }) => text);

const chatmlWithTools = (defaultSystem: string | undefined): string => `
{%- if messages[0].role == "system" %}
    {%- set system = messages[0].content %}
{%- else %}
    {%- set system = ${quoted(defaultSystem ?? "")} %}
{%- endif %}
{%- if tools %}
    {{- ${quoted(turnStart, "system\n")} }}
    {%- if system or messages[0].role == "system" %}
        {{- system + "\\n\\n" }}
    {%- endif %}
    {{- ${quoted(toolsBefore)} }}
    {%- for tool in tools %}
        {{- "\\n" }}
        {#- llama.cpp gives every tool a description, an empty one where the request has none. -#}
        {%- if tool.function.description == "" %}
            {{- '{"type": "function", "function": {"name": ' }}
            {{- tool.function.name | tojson }}
            {{- ', "parameters": ' }}
            {{- tool.function.parameters | tojson }}
            {{- "}}" }}
        {%- else %}
            {{- tool | tojson }}
        {%- endif %}
    {%- endfor %}
    {{- ${quoted(toolsAfter, turnEnd, "\n")} }}
{%- elif system or messages[0].role == "system" %}
    {{- ${quoted(turnStart, "system\n")} + system + ${quoted(turnEnd, "\n")} }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == "tool" %}
        {%- if loop.first or messages[loop.index0 - 1].role != "tool" %}
            {{- ${quoted(turnStart, "user")} }}
        {%- endif %}
        {{- "\\n<tool_response>\\n" + message.content + "\\n</tool_response>" }}
        {%- if loop.last or messages[loop.index0 + 1].role != "tool" %}
            {{- ${quoted(turnEnd, "\n")} }}
        {%- endif %}
    {%- elif message.role != "system" or not loop.first %}
        {{- ${quoted(turnStart)} + message.role + "\\n" }}
        {%- if message.content %}
            {{- message.content }}
        {%- endif %}
        {%- for tool_call in message.tool_calls or [] %}
            {%- if tool_call.function %}
                {%- set tool_call = tool_call.function %}
            {%- endif %}
            {%- if message.content or not loop.first %}
                {{- "\\n" }}
            {%- endif %}
            {{- ${quoted(callStart, '\n{"name": "')} + tool_call.name + ${quoted('", "arguments": ')} }}
            {{- tool_call.arguments | tojson }}
            {{- ${quoted("}\n", callEnd)} }}
        {%- endfor %}
        {{- ${quoted(turnEnd, "\n")} }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- ${quoted(turnStart, "assistant\n")} }}
{%- endif %}
`;

/** null where the model's own template is to stay: it writes tools, or its renderer is another one. */
export function templateWithTools(
  { tokenizer, config }: TokenizerFiles,
  source: string,
): string | null {
  const templates = readTemplates(config.chat_template);
  // The built-in's own short line of tools has no template.
  if (config.tool_prompt !== undefined) return null;
  if (templates === null || templates.toolTemplate !== undefined) return null;
  const text = createTokenizer(tokenizer, source);
  const trained = chooseRenderer(text, config, {}, source);
  const own = createJinjaRenderer(text, templates);
  if (trained.family !== "chatml" || writesTools(own)) return null;
  const template = chatmlWithTools(findDefaultSystem(text, own)).trimStart();
  return rendersAlike(trained, createJinjaRenderer(text, { template }), true) ? template : null;
}
