"""What an embedder is made with besides its model."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedOptions:
    """Options of the embedders; the settings ``FRESHCRAWL_EMBED_...`` say what each means."""

    api_key: str = field(default="", repr=False)
    backend: str = "torch"
    chunk_tokens: int = 256
    """Longest input in tokens, special tokens included, whatever the model could read."""
    device: str = "cpu"
    dimension: int = 0
    document_prompt: str = ""
    query_prompt: str = ""
    threads: int = 0
    timeout_secs: float = 60.0
    tokenizer: str = ""
    url: str = ""


DEFAULT_OPTIONS = EmbedOptions()
