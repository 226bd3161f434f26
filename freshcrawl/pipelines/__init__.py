"""Item pipelines, thin over ``core``: normalise, compare, judge presence, stage for the index."""

from freshcrawl.pipelines.change import ChangePipeline
from freshcrawl.pipelines.index import IndexPipeline
from freshcrawl.pipelines.normalize import NormalizePipeline
from freshcrawl.pipelines.presence import PresencePipeline

__all__ = ["ChangePipeline", "IndexPipeline", "NormalizePipeline", "PresencePipeline"]
