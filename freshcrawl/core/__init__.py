"""Pure logic: no Scrapy, no I/O, the clock is passed in."""
