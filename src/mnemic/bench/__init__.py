"""The benchmark: how good the memory is, beside its rivals, by numbers that anyone can make again.

``mnemic bench`` runs it. It uses mnemic through its public interface only.
"""
