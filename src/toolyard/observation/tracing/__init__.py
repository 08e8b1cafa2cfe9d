"""Which request led to which: spans, and the trace context that connects those of all programs."""
