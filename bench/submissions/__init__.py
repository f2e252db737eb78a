"""Submissions: how results of anybody join the leaderboard; ``results/submissions`` has them."""
