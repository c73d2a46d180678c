"""Long-term memory for LLM agents that never loses the words."""
