"""The other side of turns.ts in vLLM's CPU build: "open" loads the model, "sample" makes one turn.

One JSON object a line comes in, one goes out, with the peak of resident memory of this process and of
the engine's, which vLLM starts.
"""

import json
import os
import random
import resource
import sys
import time

out = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

# PyPI's torch is the one for GPUs, whose synchronization fails where there is no driver. The worker is
# a fork of this process, so that it has the replacement too.
os.environ.setdefault("VLLM_WORKER_MULTIPROC_METHOD", "fork")
os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
import torch  # noqa: E402

torch.accelerator.synchronize = lambda *_: None

import vllm  # noqa: E402
from vllm import LLM, SamplingParams  # noqa: E402


class Peer:
    def open(self, folder, threads, dtype, maxTokens, maxSequences):
        os.environ["VLLM_CPU_OMP_THREADS_BIND"] = f"0-{threads - 1}"
        self.llm = LLM(
            model=folder,
            skip_tokenizer_init=True,
            dtype=dtype,
            max_model_len=maxTokens,
            max_num_seqs=maxSequences,
            enable_prefix_caching=False,
            enforce_eager=True,
            disable_log_stats=True,
            seed=1,
        )
        self.vocabulary = self.llm.llm_engine.model_config.get_vocab_size()
        return {"vllm": vllm.__version__}

    def sample(self, batch, promptTokens, newTokens):
        random.seed()
        prompts = [
            {"prompt_token_ids": [random.randrange(self.vocabulary) for _ in range(promptTokens)]}
            for _ in range(batch)
        ]
        params = SamplingParams(
            temperature=1.0, max_tokens=newTokens, min_tokens=newTokens, ignore_eos=True, detokenize=False
        )
        start = time.perf_counter()
        outputs = self.llm.generate(prompts, params, use_tqdm=False)
        seconds = time.perf_counter() - start
        assert all(len(output.outputs[0].token_ids) == newTokens for output in outputs)
        return {"seconds": seconds}


def peak_mib():
    """Of the largest process: vLLM's engine may be a child of this one."""
    sides = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(side).ru_maxrss for side in sides) / 1024


if __name__ == "__main__":
    peer = Peer()
    for line in sys.stdin:
        request = json.loads(line)
        answer = getattr(peer, request.pop("do"))(**request)
        answer["peakMiB"] = peak_mib()
        print(json.dumps(answer), file=out, flush=True)
