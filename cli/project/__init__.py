"""Projects: `adze.toml`, what is built of it, when it is built again, and how results are told to pipelines."""
