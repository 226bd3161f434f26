"""``scrapy`` sub-commands: one concrete command a module, named after it."""
