"""Hand-written networks: translation by LSTM cells, a mixture of experts."""

from __future__ import annotations

from problems.capture.models.inputs import own, tokens
from problems.capture.models.registry import Built, builder
from problems.capture.modules.experts import MixtureDecoder
from problems.capture.modules.gnmt import Gnmt


@builder("moe", "moe")
def moe(batch: int = 1, sequence: int = 128) -> Built:
    """Build a decoder of 6 layers with 8 experts each (arXiv 1701.06538)."""
    about = own(batch=batch, sequence=sequence)
    return Built(MixtureDecoder(), (tokens(batch, sequence),), {}, r"layers\.\d+", about)


@builder("gnmt", "gnmt")
def gnmt(batch: int = 1, sequence: int = 16) -> Built:
    """Build GNMT (arXiv 1609.08144): 8 + 8 layers of LSTM cells, unrolled over the time steps."""
    block = r"(encoder|decoder)\.(embedding|backwards|cells\.\d+|attention|classifier)"
    words = (tokens(batch, sequence), tokens(batch, sequence))
    return Built(Gnmt(), words, {}, block, own(batch=batch, sequence=sequence))
