"""What only one of the two eras has: handshake sessions, modern envelopes and headers."""
