"""What operators see: metrics and traces, caught by what they use themselves."""
