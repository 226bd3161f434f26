"""What repeats across a site's pages: learned from all of them, parted from each."""
