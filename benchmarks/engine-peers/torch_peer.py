"""The other side of turns.ts: PyTorch, transformers and PEFT on the same models and sizes.

One JSON object a line comes in, one goes out. "open" loads the model and makes the first, unmeasured
turn; "train" and "sample" make one turn and tell its seconds; each tells the peak of resident memory.

With the precision "bf16", training runs under autocast, and sampling has its weights in bf16.
"""

import json
import os
import resource
import sys
import time

import torch
import transformers
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


class Peer:
    def open(self, folder, threads, rank, precision):
        torch.set_num_threads(threads)
        torch.manual_seed(1)
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16 if precision == "bf16" and rank is None else torch.float32)
        self.autocast = precision == "bf16" and rank is not None
        model.config.use_cache = False
        if rank is not None:
            model = get_peft_model(model, LoraConfig(r=rank, lora_alpha=2 * rank, target_modules=TARGETS))
        self.model = model
        self.optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-6)
        self.vocabulary = model.config.vocab_size
        return {"torch": torch.__version__, "transformers": transformers.__version__}

    def train(self, rows, tokens):
        """PPO's loss on every token but the first, a gradient and an optimizer step."""
        self.model.train()
        ids = torch.randint(self.vocabulary, (rows, tokens))
        sampled = torch.full((rows, tokens - 1), -float(torch.log(torch.tensor(float(self.vocabulary)))))
        advantages = torch.ones(rows, 1)
        start = time.perf_counter()
        with torch.autocast("cpu", torch.bfloat16, enabled=self.autocast):
            logits = self.model(input_ids=ids[:, :-1], use_cache=False).logits.float()
        logprobs = torch.log_softmax(logits, -1).gather(-1, ids[:, 1:, None])[..., 0]
        ratio = (logprobs - sampled).exp()
        terms = torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages)
        (-terms.mean()).backward()
        torch.nn.utils.clip_grad_norm_([p for p in self.model.parameters() if p.requires_grad], 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return {"seconds": time.perf_counter() - start}

    def sample(self, batch, promptTokens, newTokens):
        self.model.eval()
        ids = torch.randint(self.vocabulary, (batch, promptTokens))
        start = time.perf_counter()
        with torch.inference_mode():
            out = self.model.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                do_sample=True,
                temperature=1.0,
                top_k=0,
                top_p=1.0,
                min_new_tokens=newTokens,
                max_new_tokens=newTokens,
                use_cache=True,
                pad_token_id=0,
            )
        seconds = time.perf_counter() - start
        assert out.shape[1] == promptTokens + newTokens
        return {"seconds": seconds}


peer = Peer()
out = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
for line in sys.stdin:
    request = json.loads(line)
    answer = getattr(peer, request.pop("do"))(**request)
    answer["peakMiB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(answer), file=out, flush=True)
