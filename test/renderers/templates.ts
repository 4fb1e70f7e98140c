/** Chat templates in the manner of models whose tokenizers we have no package of. */

/** SmolLM2's. */
export const smollm2Template =
  "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n' }}{% endif %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

/** Calls as Qwen3-Coder writes them, and keys of a schema as tags, which is a way to smuggle tokens in. */
export const xmlTemplate = `{%- if tools %}
{{- '<|im_start|>system\n<tools>' }}
{%- for tool in tools %}
{{- '\n<name>' + tool.function.name + '</name>' }}
{%- for key, value in ((tool.function.parameters or {}).properties or {})|items %}
{{- '\n<' + key + '>' + (value | tojson) + '</' + key + '>' }}
{%- endfor %}
{%- endfor %}
{{- '\n</tools>\n<tool_call>\n<function=f>\n</function>\n</tool_call><|im_end|>\n' }}
{%- endif %}
{%- for message in messages %}
{%- if message.role == 'tool' %}
{{- '<|im_start|>user\n<tool_response>\n' + message.content + '\n</tool_response><|im_end|>\n' }}
{%- else %}
{{- '<|im_start|>' + message.role + '\n' + message.content }}
{%- for call in message.tool_calls or [] %}
{{- '\n<tool_call>\n<function=' + call.function.name + '>\n' }}
{%- for key, value in call.function.arguments|items %}
{{- '<parameter=' + key + '>\n' + (value if value is string else value | tojson) + '\n</parameter>\n' }}
{%- endfor %}
{{- '</function>\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}`;

/** Reasoning begins in the prompt; the past keeps none of it. */
export const openThinkTemplate =
  "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content.split('</think>')[-1] }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n{% endif %}";

/** Tools before the last question, so that each question writes the past anew. */
export const lastQuestionTemplate =
  "{% for m in messages %}{% if m.role == 'user' and loop.last and tools %}TOOLS {{ tools | tojson }}{% endif %}[{{ m.role }}]{{ m.content | trim }}<|im_end|>{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}";
