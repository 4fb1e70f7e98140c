"""Serves a GGUF file with llama.cpp's own server, out of the wheel xllamacpp: serve.py MODEL PORT [ADAPTER]

ADAPTER is what `llama-server --lora` takes: the command line fills the same fields.
"""

import signal
import sys

import xllamacpp

path, port, *adapters = sys.argv[1:]
params = xllamacpp.CommonParams()
params.model.path = path
params.model_alias = {"llama"}
params.hostnames = ["127.0.0.1"]
params.port = int(port)
params.n_ctx = 8192
params.n_parallel = 4
params.cpuparams.n_threads = 2
# Everything in 32-bit floats, as the embedded engine computes.
params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
params.endpoint_props = True
params.use_jinja = True
for adapter in adapters:
    lora = xllamacpp.CommonAdapterLoraInfo()
    lora.path = adapter
    lora.scale = 1.0
    params.lora_adapters = [*params.lora_adapters, lora]

server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
signal.sigwait({signal.SIGTERM, signal.SIGINT})
