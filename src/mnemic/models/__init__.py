"""Embedders, cue extractors, rerankers and language models, each behind its protocol; each loads at its first use."""
