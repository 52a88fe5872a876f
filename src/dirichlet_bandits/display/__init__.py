"""What users see: the logger, progress bars, notebook output, HTML tables and durations."""
