"""Pure algorithms: text and arrays in, values out; no I/O, no clock, no randomness, no logging."""
