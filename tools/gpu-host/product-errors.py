"""Errors of f32 products of 1024 x 1024 with k terms against cuBLAS in f64, for nine kinds of input: `split`, `ieee`, `ieee` with
matrices that stream, cuBLAS f32 and TF32. Those that stream have the bits of those that do not.

    python3 tools/gpu-host/product-errors.py [--kinds NAME,...] OUT.json NODE...        NODE: the command that runs product-errors.ts

`rms`: the root of the sum of squared errors over that of squared results, in units of 2^-24. `largest`: the largest error as a share of the bound of
split products, (1.55 k/W + 1.6 min(k, W) + 14) 2^-24 sum|a||b| + k 2^-49 alpha beta.
"""

import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import torch

SIZE = 1024
U = 2.0**-24
generator = torch.Generator(device="cuda")
generator.manual_seed(7)


def uniform(*shape):
    return torch.rand(*shape, generator=generator, device="cuda", dtype=torch.float64)


def sign(*shape):
    return (torch.rand(*shape, generator=generator, device="cuda") < 0.5).double() * 2 - 1


def normal(rows, columns, inner):
    return torch.randn(rows, columns, generator=generator, device="cuda", dtype=torch.float64)


def graded(rows, columns, inner):
    """From 1 down to 2^-40 along k, which is dimension `inner`."""
    k = columns if inner else rows
    scale = 2.0 ** (-40 * torch.arange(k, device="cuda", dtype=torch.float64) / k)
    return (2 * uniform(rows, columns) - 1) * (scale[None, :] if inner else scale[:, None])


def sparse(rows, columns, inner):
    zero = torch.zeros((), device="cuda", dtype=torch.float64)
    return torch.where(uniform(rows, columns) < 0.01, 2 * uniform(rows, columns) - 1, zero)


MANY = (16, 256, 512, 1024, 2048, 4096, 8192, 16384, 65536)
SOME = (16, 256, 1024, 4096, 16384, 65536)
FEW = (16, 256, 1024, 4096, 16384)
KINDS = {
    "uniform ±1": (MANY, lambda r, c, inner: 2 * uniform(r, c) - 1),
    "uniform 0..1": (MANY, lambda r, c, inner: uniform(r, c)),
    "normal": (MANY, normal),
    "exponential": (MANY, lambda r, c, inner: -torch.log(uniform(r, c) + 2.0**-33)),
    "graded 2^-40..1": (FEW, graded),
    "sparse 1 %": (SOME, sparse),
    "integers to 1000": (FEW, lambda r, c, inner: sign(r, c) * torch.floor(uniform(r, c) * 1001)),
    "range 2^-30..2^30": (FEW, lambda r, c, inner: sign(r, c) * 2.0 ** (60 * uniform(r, c) - 30)),
    "normal with Inf, NaN": ((256, 4096), normal),
}


def window(k):
    return 32 * min(6, max(2, int(1.5 * math.sqrt(k) / 32)))


def main():
    given = sys.argv[1:]
    kinds = given[1].split(",") if given[0] == "--kinds" else list(KINDS)
    out, *command = given[2:] if given[0] == "--kinds" else given
    folder = tempfile.mkdtemp(dir="/dev/shm")
    node = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    rows = []
    for name in kinds:
        depths, make = KINDS[name]
        for k in depths:
            a, b = make(SIZE, k, 1).float(), make(k, SIZE, 0).float()
            if "Inf" in name:
                a[3, 5], a[7, 9], b[11, 13], b[2, 17] = math.inf, math.nan, -math.inf, math.nan
            a.cpu().numpy().tofile(f"{folder}/a")
            b.cpu().numpy().tofile(f"{folder}/b")
            node.stdin.write(f"{folder} {SIZE} {SIZE} {k}\n")
            node.stdin.flush()
            assert node.stdout.readline() == "done\n"
            results = {
                p: torch.from_numpy(np.fromfile(f"{folder}/{p}", np.float32)).cuda().reshape(SIZE, SIZE)
                for p in ("split", "ieee", "streamed")
            }
            torch.backends.cuda.matmul.allow_tf32 = False
            results["cuBLAS f32"] = a @ b
            torch.backends.cuda.matmul.allow_tf32 = True
            results["cuBLAS TF32"] = a @ b
            exact = a.double() @ b.double()
            magnitude = a.double().abs() @ b.double().abs()
            ends = a.abs().double().amax(1)[:, None] * b.abs().double().amax(0)[None, :]
            w = window(k)
            bound = (1.55 * k / w + 1.6 * min(k, w) + 14) * U * magnitude + k * 2.0**-49 * ends
            finite = torch.isfinite(exact)
            row = {"input": name, "k": k, "window": w, "rms": {}, "largest": {}}
            for p, c in results.items():
                d = (c.double() - exact)[finite]
                row["rms"][p] = (d.square().sum() / exact[finite].square().sum()).sqrt().item() / U
                share = torch.where(d == 0, torch.zeros_like(d), d.abs() / bound[finite])
                row["largest"][p] = share.max().item()
            row["sameInfNaN"] = all(
                torch.equal(torch.isnan(results[p]), torch.isnan(exact))
                and torch.equal(torch.isinf(results[p]) & (results[p] > 0), torch.isinf(exact) & (exact > 0))
                for p in ("split", "ieee")
            )
            row["streamedHasBitsOfIeee"] = torch.equal(
                results["streamed"].view(torch.int32), results["ieee"].view(torch.int32)
            )
            rows.append(row)
            with open(out, "w", encoding="utf8") as file:
                json.dump(rows, file, indent=1, ensure_ascii=False)
            print(row, file=sys.stderr, flush=True)
    node.stdin.close()
    node.wait()
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
