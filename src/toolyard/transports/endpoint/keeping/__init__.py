"""Sessions in a store: written down while they live, taken over when their process is gone."""
