"""What is to be solved: graphs, platforms, instances, rules, evaluators, bounds."""

from problems import compiled

# Before anything compiled is imported.
compiled.keep_apart()
