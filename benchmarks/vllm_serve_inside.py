"""Run in vLLM's own environment: make a tiny model, or let vLLM's parser read commands."""

from __future__ import annotations

import json
import sys
from typing import Any


def make(folder: str) -> dict[str, Any]:
    """Write a random Llama of a few thousand parameters with a tokenizer of single words."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = ["<unk>", "<s>", "</s>", *(chr(97 + n) for n in range(26)), *map(str, range(99))]
    inner = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, "<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner, unk_token="<unk>", bos_token="<s>", eos_token="</s>"
    )
    tokenizer.save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=128,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=2048,
        torch_dtype="bfloat16",
    )
    LlamaForCausalLM(config).to(dtype=__import__("torch").bfloat16).save_pretrained(folder)
    return {"words": len(words)}


def parse(commands: list[list[str]]) -> dict[str, Any]:
    """Return which argument lists vLLM's own parser refuses, and why."""
    from vllm.entrypoints.launchers.cli_args import make_arg_parser
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    refused = []
    for command in commands:
        parser = make_arg_parser(FlexibleArgumentParser(exit_on_error=False))
        try:
            parser.parse_args(command)
        except (SystemExit, Exception) as error:
            refused.append({"command": command, "why": repr(error)})
    return {"commands": len(commands), "refused": refused}


if __name__ == "__main__":
    given = json.load(sys.stdin)
    answer = make(sys.argv[2]) if sys.argv[1] == "make" else parse(given)
    print(json.dumps(answer))
