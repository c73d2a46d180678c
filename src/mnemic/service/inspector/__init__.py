"""The inspector: a memory in a browser, mounted beside REST, behind the same keys.

``mount`` is one of ``service.app.create``'s mounts. What a page shows is worked out in the modules called ``*_view``,
plain values from ``Memory``'s methods; the modules called ``*_page`` put them into elements.
"""

from mnemic.service.inspector.mounting import mount

__all__ = ["mount"]
