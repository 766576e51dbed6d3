"""The laboratory: the page that runs scenarios in a browser, served on this machine alone.

``make lab`` builds the page into the folder ``page`` next to this file. Its engine is that of ``penstock run``.
"""

from penstock.lab.links import fragment
from penstock.lab.serving import BUILD, PAGE, Server

__all__ = ["BUILD", "PAGE", "Server", "fragment"]
