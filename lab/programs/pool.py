"""Processes of a pool that fill memory of their own and keep it: pool.py PROCESSES MIB SECONDS STATUS"""

import multiprocessing
import sys
import time

processes, mib, seconds, status = map(int, sys.argv[1:])
kept = []


def fill(_):
    kept.append(bytearray(b"\1") * (mib << 20))
    time.sleep(seconds)
    return len(kept[-1])


if __name__ == "__main__":
    with multiprocessing.Pool(processes) as pool:
        filled = pool.map(fill, range(processes), chunksize=1)
    print(sum(filled))
    sys.exit(status)
