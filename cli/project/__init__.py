"""Projects: `adze.toml`, what is built of it and when again, and how results are told to pipelines."""
