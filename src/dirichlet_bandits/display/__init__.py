"""What users see while code runs: the logger, progress bars, output in notebooks, HTML tables."""
