"""The laboratory: the page that runs scenarios in a browser, served on this machine alone.

``make lab`` builds the page into the folder ``page`` next to this file. Its engine is that of ``penstock run``.
"""

from penstock.lab.server import BUILD, PAGE, Server
from penstock.lab.share_links import fragment

__all__ = ["BUILD", "PAGE", "Server", "fragment"]
