"""The page's API, a module a part."""
