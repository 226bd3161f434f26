"""What the tests share: sites, servers, embedders, projects."""
