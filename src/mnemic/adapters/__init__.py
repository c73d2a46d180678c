"""Memory behind the interfaces of agent frameworks: one module a framework, each importing only its own."""
