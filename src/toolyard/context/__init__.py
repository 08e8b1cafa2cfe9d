"""What a model reads: views of the catalog, the search behind them, sizes, instructions."""
