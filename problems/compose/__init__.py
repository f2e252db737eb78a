"""What is in the library: its platforms, its instances, its selections.

``make library`` writes ``platforms/*.json``, ``index.json`` and everything derived from them.
"""
