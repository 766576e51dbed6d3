"""The options of every command that draws one figure: how large it is, and what stands on it."""

import typer

WIDTH = typer.Option("--width", metavar="IN", help="Width of the figure, inches.  [default: what suits a screen]")
FONT_SIZE = typer.Option("--font-size", metavar="PT", help="Size of all type, points.")
TITLE = typer.Option("--title/--no-title", help="Whether a title stands above the panels.")
