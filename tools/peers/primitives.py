"""Times PyTorch's cumsum, its deterministic form, histc and sort on one GPU, and prints JSON lines:

    python3 tools/peers/primitives.py [LOG2 ...]

The median of 9 samples by events, each of as many calls back to back as take 5 ms.
"""

import json
import statistics
import sys

import torch


def seconds(work):
    def once(calls):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(calls):
            work()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / 1e3 / calls

    once(2)
    calls = max(1, min(500, int(5e-3 / once(2)) + 1))
    return statistics.median(once(calls) for _ in range(9))


def report(work, by, elements, work_of):
    line = {"work": work, "by": by, "elements": elements, "devices": 1, "seconds": seconds(work_of)}
    print(json.dumps(line), flush=True)


for log in [int(text) for text in sys.argv[1:]] or [28, 22]:
    n = 1 << log
    x = torch.rand(n, device="cuda") * 2 - 1
    out = torch.empty_like(x)
    report("scan f32", "PyTorch", n, lambda: torch.cumsum(x, 0, out=out))
    torch.use_deterministic_algorithms(True)
    report("scan f32", "PyTorch, deterministic", n, lambda: torch.cumsum(x, 0, out=out))
    torch.use_deterministic_algorithms(False)
    report("histogram f32 even", "PyTorch", n, lambda: torch.histc(x, 256, -1, 1))
    del x, out
    keys = torch.randint(-(2**31), 2**31, (n,), device="cuda", dtype=torch.int32)
    report("sort u32 pairs", "PyTorch", n, lambda: torch.sort(keys, stable=True))
    del keys
