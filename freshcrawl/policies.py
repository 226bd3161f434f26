"""What the pure rules of ``core`` need of the settings of a site."""

from __future__ import annotations

from typing import TYPE_CHECKING

from freshcrawl.core.guards import GuardPolicy
from freshcrawl.core.noise import NoiseRules
from freshcrawl.core.schedule import SchedulePolicy
from freshcrawl.core.versions import Retention

if TYPE_CHECKING:
    from freshcrawl.config import Config


def schedule_policy(config: Config) -> SchedulePolicy:
    """Return when pages are due."""
    return SchedulePolicy(
        config.start_interval_secs,
        config.min_interval_secs,
        config.max_interval_secs,
        config.max_age_secs,
        config.guard_confirm_hours * 3_600,
    )


def noise_rules(config: Config) -> NoiseRules:
    """Return when noise is forgotten, and when a value that stays is none."""
    return NoiseRules(config.min_interval_secs, config.noise_days * 86_400)


def guard_policy(config: Config) -> GuardPolicy:
    """Return the thresholds above which work is held."""
    return GuardPolicy(
        config.guard_removed_ratio,
        config.guard_removed_min,
        config.guard_changed_ratio,
        config.guard_changed_min,
        config.guard_confirm_runs,
        config.guard_confirm_hours * 3_600,
        config.guard_failed_ratio,
        config.guard_failed_min,
    )


def retention_policy(config: Config, now: float) -> Retention:
    """Return what is kept of what left the answers."""
    return Retention(
        config.generations_kept,
        now - config.vector_retention_days * 86_400,
        config.versions_kept,
        now - config.version_retention_days * 86_400,
    )
