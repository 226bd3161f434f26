"""Where state and index live: Protocols in ``base``, one module a back end."""
