"""What freshcrawl costs and how well it reads, beside its peers, in one run each; see README.md."""
