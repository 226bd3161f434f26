"""Webhook: what is told, the outbox that keeps it until it is told, and the telling."""
