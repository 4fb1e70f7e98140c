"""How far vLLM's log-probabilities in bfloat16 are from PyTorch's, on one GPU, for the same weights.

128 prompts of 31 random tokens, each continued by 64 tokens at temperature 1; no training, and no Ray.

    python gap.py MODEL_FOLDER > gap.json
"""

from __future__ import annotations

import json
import sys

PROMPT, SAMPLED, COUNT = 31, 64, 128


def main(folder: str) -> None:
    import torch
    from transformers import AutoModelForCausalLM
    from vllm import LLM, SamplingParams, TokensPrompt

    settings = {"max_model_len": 512, "max_num_seqs": COUNT, "gpu_memory_utilization": 0.1}
    server = LLM(folder, dtype="bfloat16", enforce_eager=True, **settings)
    torch.manual_seed(0)
    prompts = [[510, *torch.randint(0, 500, (PROMPT - 1,)).tolist()] for _ in range(COUNT)]
    sampling = SamplingParams(max_tokens=SAMPLED, temperature=1, logprobs=0, ignore_eos=True, seed=1)
    outputs = [one.outputs[0] for one in server.generate([TokensPrompt(prompt_token_ids=ids) for ids in prompts], sampling)]
    ids = torch.tensor([[*prompt, *output.token_ids] for prompt, output in zip(prompts, outputs)]).cuda()
    sampled = torch.tensor(
        [[at[token].logprob for at, token in zip(output.logprobs, output.token_ids)] for output in outputs]
    ).cuda()
    model = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="sdpa", dtype=torch.float32).cuda().eval()
    found = {}
    for name, dtype in (("float32", torch.float32), ("bfloat16", torch.bfloat16)):
        model = model.to(dtype)
        with torch.no_grad():
            logits = model(input_ids=ids).logits.float()[:, PROMPT - 1 : -1]
        trained = logits.log_softmax(-1).gather(-1, ids[:, PROMPT:, None])[..., 0]
        gap = trained - sampled
        found[name] = {
            "k1": -gap.mean().item(),
            "k3": (gap.exp() - 1 - gap).mean().item(),
            "abs": gap.abs().mean().item(),
            "max": gap.abs().max().item(),
            "ratio_max": gap.exp().max().item(),
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
