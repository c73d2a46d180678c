"""Stand-ins for other memory libraries: a program that uses one of them changes one import."""
