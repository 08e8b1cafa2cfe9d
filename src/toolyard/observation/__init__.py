"""What operators see from outside: metrics, traces, the last hour; laid over what serves."""
