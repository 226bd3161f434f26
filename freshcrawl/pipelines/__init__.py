"""Item pipelines, thin over ``core``: normalise, part, compare, reject, judge, stage."""

from freshcrawl.pipelines.boilerplate import BoilerplatePipeline
from freshcrawl.pipelines.change import ChangePipeline
from freshcrawl.pipelines.index import IndexPipeline
from freshcrawl.pipelines.normalize import NormalizePipeline
from freshcrawl.pipelines.presence import PresencePipeline
from freshcrawl.pipelines.reject import RejectPipeline

__all__ = [
    "BoilerplatePipeline",
    "ChangePipeline",
    "IndexPipeline",
    "NormalizePipeline",
    "PresencePipeline",
    "RejectPipeline",
]
