"""Fluid models of the schemes."""
