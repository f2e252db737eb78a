"""Transformers that read and write text, from configurations of transformers."""

from __future__ import annotations

from collections.abc import Callable

import torch
import transformers
from torch import nn

from problems.capture.models.inputs import hugging, text, tokens
from problems.capture.models.registry import Built, register, variant


def network(
    name: str,
    family: str,
    title: str,
    make: Callable[[], nn.Module],
    block: str,
    *,
    answers: bool = False,
    whole_mask: bool = False,
) -> None:
    """Register a model that reads one text or, with `answers`, a text and the answer so far.

    With `whole_mask` the mask of all pairs is an input, too: as an input it is at hand on every
    device, where one that is computed joins all layers to the first.
    """

    def build(batch: int = 1, sequence: int = 128) -> Built:
        about = hugging(batch=batch, sequence=sequence)
        inputs = text(batch, sequence)
        if whole_mask:
            inputs["attention_mask"] = torch.ones(batch, 1, sequence, sequence, dtype=torch.bool)
        if answers:
            inputs["decoder_input_ids"] = tokens(batch, sequence)
        return Built(make(), (), inputs, block, about)

    register(name, family, f"{title}.", build)


# Encoders

network(
    "bert-base",
    "bert",
    "BERT base, uncased (arXiv 1810.04805)",
    lambda: transformers.BertModel(transformers.BertConfig()),
    r"embeddings|encoder\.layer\.\d+|pooler",
)
network(
    "bert-base-mask",
    "bert",
    "BERT base, uncased (arXiv 1810.04805), the mask of all pairs given",
    lambda: transformers.BertModel(transformers.BertConfig()),
    r"embeddings|encoder\.layer\.\d+|pooler",
    whole_mask=True,
)
network(
    "bert-large",
    "bert",
    "BERT large, uncased (arXiv 1810.04805)",
    lambda: transformers.BertModel(
        transformers.BertConfig(
            hidden_size=1024,
            num_hidden_layers=24,
            num_attention_heads=16,
            intermediate_size=4096,
        )
    ),
    r"embeddings|encoder\.layer\.\d+|pooler",
)
network(
    "bert-large-mask",
    "bert",
    "BERT large, uncased (arXiv 1810.04805), the mask of all pairs given",
    lambda: transformers.BertModel(
        transformers.BertConfig(
            hidden_size=1024,
            num_hidden_layers=24,
            num_attention_heads=16,
            intermediate_size=4096,
        )
    ),
    r"embeddings|encoder\.layer\.\d+|pooler",
    whole_mask=True,
)
network(
    "distilbert",
    "bert",
    "DistilBERT base (arXiv 1910.01108)",
    lambda: transformers.DistilBertModel(transformers.DistilBertConfig()),
    r"embeddings|transformer\.layer\.\d+",
)
network(
    "albert-xxlarge",
    "albert",
    "ALBERT xxlarge: all layers have the same weights (arXiv 1909.11942)",
    lambda: transformers.AlbertModel(transformers.AlbertConfig()),
    r"embeddings|encoder\.(embedding\w+|albert_layer_groups\.0(@\d+)?)|pooler",
)
network(
    "deberta-v3-base",
    "deberta",
    "DeBERTa-v3 base: content and position attend apart (arXiv 2111.09543)",
    lambda: transformers.DebertaV2Model(
        transformers.DebertaV2Config(
            vocab_size=128100,
            hidden_size=768,
            num_hidden_layers=12,
            num_attention_heads=12,
            intermediate_size=3072,
            max_relative_positions=-1,
            position_biased_input=False,
            pos_att_type=["p2c", "c2p"],
            relative_attention=True,
            position_buckets=256,
            share_att_key=True,
            norm_rel_ebd="layer_norm",
            type_vocab_size=0,
        )
    ),
    r"embeddings|encoder\.(layer\.\d+|LayerNorm)",
)
network(
    "mobilebert",
    "bert",
    "MobileBERT: narrow, 24 layers of stacked feed-forward networks (arXiv 2004.02984)",
    lambda: transformers.MobileBertModel(transformers.MobileBertConfig()),
    r"embeddings|encoder\.layer\.\d+|pooler",
)

# Decoders

network(
    "gpt2",
    "gpt2",
    "GPT-2 small with its language head, no cache",
    lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config(use_cache=False)),
    r"transformer\.(wte|wpe|h\.\d+|ln_f)|lm_head",
)
network(
    "gpt2-xl",
    "gpt2",
    "GPT-2 XL with its language head, no cache",
    lambda: transformers.GPT2LMHeadModel(
        transformers.GPT2Config(n_embd=1600, n_layer=48, n_head=25, use_cache=False)
    ),
    r"transformer\.(wte|wpe|h\.\d+|ln_f)|lm_head",
)
network(
    "opt-6.7b",
    "opt",
    "OPT-6.7B, no cache (arXiv 2205.01068)",
    lambda: transformers.OPTForCausalLM(
        transformers.OPTConfig(
            hidden_size=4096,
            word_embed_proj_dim=4096,
            num_hidden_layers=32,
            num_attention_heads=32,
            ffn_dim=16384,
            use_cache=False,
        )
    ),
    r"model\.decoder\.(embed_\w+|layers\.\d+|final_layer_norm)|lm_head",
)
network(
    "gpt-neox-20b",
    "gpt-neox",
    "GPT-NeoX-20B: attention beside feed-forward, no cache (arXiv 2204.06745)",
    lambda: transformers.GPTNeoXForCausalLM(transformers.GPTNeoXConfig(use_cache=False)),
    r"gpt_neox\.(embed_in|rotary_emb|layers\.\d+|final_layer_norm)|embed_out|lm_head",
)


def llama(name: str, title: str, width: int, hidden: int, layers: int, heads: int, kv: int) -> None:
    """Register a Llama with its language head; `kv` key-value heads."""

    def make() -> nn.Module:
        config = transformers.LlamaConfig(
            hidden_size=width,
            intermediate_size=hidden,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            num_key_value_heads=kv,
            max_position_embeddings=4096,
            use_cache=False,
        )
        return transformers.LlamaForCausalLM(config)

    block = r"model\.(embed_tokens|rotary_emb|layers\.\d+|norm)|lm_head"
    network(name, "llama", f"{title}, no cache (arXiv 2307.09288)", make, block)


llama("llama2-7b", "Llama 2 7B", 4096, 11008, 32, 32, 32)
llama("llama2-13b", "Llama 2 13B", 5120, 13824, 40, 40, 40)
llama("llama2-70b", "Llama 2 70B", 8192, 28672, 80, 64, 8)
network(
    "gemma2-2b",
    "gemma",
    "Gemma 2 2B: a quarter of the weights is the vocabulary, no cache (arXiv 2408.00118)",
    lambda: transformers.Gemma2ForCausalLM(transformers.Gemma2Config(use_cache=False)),
    r"model\.(embed_tokens|rotary_emb|layers\.\d+|norm)|lm_head",
)
network(
    "mamba-130m",
    "mamba",
    "Mamba 130M: state spaces, their scan unrolled, no cache (arXiv 2312.00752)",
    lambda: transformers.MambaForCausalLM(
        transformers.MambaConfig(hidden_size=768, num_hidden_layers=24, use_cache=False)
    ),
    r"backbone\.(embeddings|layers\.\d+|norm_f)|lm_head",
)

# Encoder and decoder

network(
    "t5-base",
    "t5",
    "T5 base, no cache (arXiv 1910.10683)",
    lambda: transformers.T5ForConditionalGeneration(
        transformers.T5Config(d_model=768, d_ff=3072, num_layers=12, num_heads=12, use_cache=False)
    ),
    r"shared|(encoder|decoder)\.(embed_tokens|block\.\d+|final_layer_norm)|lm_head",
    answers=True,
)
network(
    "bart-large",
    "bart",
    "BART large, no cache (arXiv 1910.13461)",
    lambda: transformers.BartForConditionalGeneration(transformers.BartConfig(use_cache=False)),
    r"model\.(encoder|decoder)\.(embed_\w+|layernorm_embedding|layers\.\d+)|lm_head",
    answers=True,
)

variant("bert-base-b8-s384", "bert-base", batch=8, sequence=384)
variant("gpt2-s1024", "gpt2", sequence=1024)
variant("gpt2-xl-s1024", "gpt2-xl", sequence=1024)
variant("t5-base-b8", "t5-base", batch=8)
variant("llama2-7b-s1", "llama2-7b", sequence=1)
