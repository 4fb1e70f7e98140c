"""Runs one command line and writes to descriptor 3 what it and all that it started took."""

import json
import os
import resource
import subprocess
import sys
import time

start = time.monotonic()
code = subprocess.call(["bash", "-ec", sys.argv[1]])
seconds = time.monotonic() - start
used = resource.getrusage(resource.RUSAGE_CHILDREN)
# The largest process, in KiB (bytes on macOS).
peak = used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
measured = {
    "code": code,
    "seconds": seconds,
    "processorSeconds": used.ru_utime + used.ru_stime,
    "peakMiB": peak,
}
os.write(3, json.dumps(measured).encode())
