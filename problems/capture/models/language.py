"""Transformers that read text, from configurations of transformers."""

from __future__ import annotations

import transformers

from problems.capture.models.inputs import hugging, text
from problems.capture.models.registry import Built, builder, variant


@builder("bert-base", "bert")
def bert_base(batch: int = 1, sequence: int = 128) -> Built:
    """Build BERT base, uncased (arXiv 1810.04805)."""
    model = transformers.BertModel(transformers.BertConfig())
    block = r"embeddings|encoder\.layer\.\d+|pooler"
    about = hugging(batch=batch, sequence=sequence)
    return Built(model, (), text(batch, sequence), block, about)


@builder("gpt2", "gpt2")
def gpt2(batch: int = 1, sequence: int = 128) -> Built:
    """Build GPT-2 small with its language head, no cache."""
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(use_cache=False))
    block = r"transformer\.(wte|wpe|h\.\d+|ln_f)|lm_head"
    about = hugging(batch=batch, sequence=sequence)
    return Built(model, (), text(batch, sequence), block, about)


variant("bert-base-b8-s384", "bert-base", batch=8, sequence=384)
variant("gpt2-s1024", "gpt2", sequence=1024)
