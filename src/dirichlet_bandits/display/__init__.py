"""What users see: the logger, progress bars, output in notebooks, HTML tables, times in words."""
