"""Everything on the best device, as a program with the line protocol; imports nothing of the suite.

``placebench run -m 'exec:python3 best_device.py {instance} {seconds} {seed}'``
"""

import json
import sys

with open(sys.argv[1]) as file:
    bundle = json.load(file)
nodes = bundle["graph"]["nodes"]
tables = [bundle["devices"][each["device"]]["times"] for each in bundle["platform"]["devices"]]
best = float("inf")
for k, table in enumerate(tables):
    times = [table[node["signature"]] for node in nodes]
    if None in times:  # the device does not support one of the nodes
        continue
    total = sum(least for least, *_ in times)
    if total < best:
        best = total
        print(json.dumps({"device": [k] * len(nodes)}), flush=True)
