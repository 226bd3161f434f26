"""The settings of embedding: which model, where it runs, and how much of it a run may use."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from freshcrawl.core.hosts import is_near

BACKENDS = ("torch", "onnx")
DEFAULT_CHUNK_TOKENS = 256
MIN_CHUNK_TOKENS = 32
ENVIRONMENT_ONLY = "EMBED_API_KEY"
"""Setting that neither settings nor jobs may have, as these are logged."""
EMBED_AT_LEAST_ONE = ("embed_attempts", "embed_batch", "embed_timeout_secs")


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingConfig:
    """The part of Config that is about embedding."""

    chunk_tokens: int = DEFAULT_CHUNK_TOKENS
    """Tokens of a chunk at most, its heading path and special tokens included."""
    embed_apart: bool = False
    """Whether crawls leave all embedding to ``scrapy embed``; they need no model then."""
    embed_api_key: str = field(default="", repr=False)
    """Key that the embeddings endpoint asks for; from the environment only."""
    embed_attempts: int = 5
    """Times that a batch is tried before embedding is given up until the next run."""
    embed_backend: str = "torch"
    """What computes a local model: ``torch``, or ``onnx`` for int8 by ONNX Runtime."""
    embed_batch: int = 32
    """Chunks embedded before their vectors are made durable; the texts of one request."""
    embed_day_chunks: int = 0
    """Chunks that the runs of a site may embed in a day (UTC) together; 0: no limit."""
    embed_device: str = "cpu"
    """Device of a local model, in PyTorch's words (``cpu``, ``cuda``, ``cuda:1``, ``mps``)."""
    embed_dimension: int = 0
    """Length of the vectors, for models that can give shorter ones; 0: the model's own."""
    embed_document_prompt: str = ""
    """What is put before each text; empty: what the model's own files say."""
    embed_max_wait_secs: float = 120.0
    """Longest wait that an endpoint may ask for before embedding is given up until the next run."""
    embed_model: str = "sentence-transformers/all-MiniLM-L6-v2"
    """Name or local folder of the model; with ``embed_url`` the endpoint's name for it."""
    embed_query_prompt: str = ""
    """What is put before each question; empty: what the model's own files say."""
    embed_revision: str = ""
    """Revision of the embedding model on its hub."""
    embed_run_chunks: int = 0
    """Chunks that one run may embed; what is left waits for the next. 0: no limit."""
    embed_threads: int = 0
    """Threads of a local model; 0: one for each core that this process may use."""
    embed_timeout_secs: float = 60.0
    """Seconds that one request to the endpoint may take."""
    embed_tokenizer: str = ""
    """Folder with the ``tokenizer.json`` of the endpoint's model; empty: tokens are estimated."""
    embed_url: str = ""
    """Base URL of an OpenAI-compatible embeddings endpoint, as ``https://host/v1``; empty: none.

    Where it is set, ``embedder_class`` and what is about local models is not used.
    """
    embedder_class: str = "freshcrawl.stores.embedding.SentenceTransformerEmbedder"
    """Import path of the Embedder, called with (model, revision)."""

    def embedding_problem(self) -> str:
        """Return what cannot work, a setting's name without prefix first; "" if all can."""
        if self.chunk_tokens < MIN_CHUNK_TOKENS:
            return f"CHUNK_TOKENS is {self.chunk_tokens}: it must be at least {MIN_CHUNK_TOKENS}"
        if self.embed_backend not in BACKENDS:
            return f"EMBED_BACKEND is {self.embed_backend!r}: one of {', '.join(BACKENDS)}"
        if not _can_be_sent(self.embed_api_key.strip()):
            return "EMBED_API_KEY cannot be sent: expected visible ASCII characters without spaces"
        return self._url_problem() if self.embed_url else ""

    def _url_problem(self) -> str:
        try:
            parts = urlsplit(self.embed_url)
            usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
        except ValueError:
            usable = False
        if not usable or not _can_be_sent(self.embed_url):
            return "EMBED_URL is no http(s) URL: give the base of the endpoint, https://host/v1"
        if "@" in parts.netloc or parts.query or parts.fragment:
            return "EMBED_URL must hold no user, password or query: give FRESHCRAWL_EMBED_API_KEY"
        if self.embed_api_key and parts.scheme == "http" and not is_near(self.embed_url):
            return (
                f"EMBED_URL is http://{parts.netloc} and there is FRESHCRAWL_EMBED_API_KEY: a key "
                "is sent by https only, except to private addresses"
            )
        return ""


def _can_be_sent(text: str) -> bool:
    """Tell whether text can be in the head of a request."""
    return text.isascii() and text.isprintable() and " " not in text
