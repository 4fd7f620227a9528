"""Times what users would pick instead of Tandem, on the GPUs of this machine, and prints one JSON document.

PyTorch (transpose, sum, peer copies), cuBLAS through PyTorch (GEMM) and cuBLASXt through ctypes (GEMM from page-locked
host memory). The same rules as `tandem bench`: warm-up, the median of at least 10 runs, fresh random data, results
checked. Work shorter than a millisecond is replayed over the same data many times for one measurement, by both.

    python3 tools/peers/peers.py --devices 4 [--only transpose,sum,gemm,gemm-xt,limits,tensor,tf32x3,fft] [--out peers.json]
"""

import argparse
import ctypes
import glob
import json
import math
import os
import statistics
import sys
import time

import torch

ROUNDS = 11
RESULTS = []


def report(work, peer, devices, shape, seconds, amount, unit, verified):
    """`amount` is bytes for B/s and operations for FLOP/s."""
    RESULTS.append(
        {
            "work": work,
            "variant": peer,
            "devices": devices,
            "shape": shape,
            "seconds": seconds,
            "rate": amount / seconds,
            "unit": unit,
            "verified": bool(verified),
        }
    )
    print(f"# {work} {peer} {shape} x{devices}: {seconds * 1e3:.4f} ms {amount / seconds / 1e9:.1f} G{unit}", file=sys.stderr, flush=True)


def synchronize(devices):
    for d in range(devices):
        torch.cuda.synchronize(d)


def host_median(run, devices, rounds=ROUNDS, warm=3, replays=1):
    """Median seconds of one `run(i)` by the host's clock, `replays` of them between synchronisations of all devices."""
    for i in range(warm):
        run(i)
    synchronize(devices)
    times = []
    for i in range(rounds):
        start = time.perf_counter()
        for _ in range(replays):
            run(i)
        synchronize(devices)
        times.append((time.perf_counter() - start) / replays)
    return statistics.median(times)


def event_median(run, rounds=ROUNDS, warm=3, replays=1):
    """Median seconds of `run(i)` on device 0 by events; back-to-back repetitions hide the launch."""
    for i in range(warm):
        run(i)
    torch.cuda.synchronize(0)
    times = []
    for i in range(rounds):
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        a.record()
        for _ in range(replays):
            run(i)
        b.record()
        b.synchronize()
        times.append(a.elapsed_time(b) / 1e3 / replays)
    return statistics.median(times)


def limits(devices):
    n = 1 << 30
    x, y = (torch.rand(n, device="cuda:0") for _ in range(2))
    report("copy", "PyTorch", 1, {"elements": n}, event_median(lambda i: y.copy_(x)), 8 * n, "B/s", True)
    if devices > 1:
        z = torch.empty(n, device="cuda:1")
        seconds = host_median(lambda i: z.copy_(x, non_blocking=True), 2)
        report("peer-copy", "PyTorch", 2, {"elements": n}, seconds, 4 * n, "B/s", torch.equal(z.cpu()[:1000], x.cpu()[:1000]))


def transpose_one(n):
    x = torch.rand(n, n, device="cuda:0")
    y = torch.empty(n, n, device="cuda:0")
    seconds = event_median(lambda i: y.copy_(x.t()))
    report("transpose", "PyTorch", 1, {"rows": n, "columns": n}, seconds, 8 * n * n, "B/s", torch.equal(y.t(), x))


def transpose_many(n, devices, peer_copy_streams=True):
    """Row slices; every tile is copied to its receiver on a stream of its own there and transposed in place."""
    s = n // devices
    source = [torch.rand(s, n, device=f"cuda:{d}") for d in range(devices)]
    target = [torch.empty(s, n, device=f"cuda:{d}") for d in range(devices)]
    staging = [[torch.empty(s, s, device=f"cuda:{d}") for _ in range(devices)] for d in range(devices)]
    streams = [[torch.cuda.Stream(device=d) for _ in range(devices)] for d in range(devices)]

    def run(_):
        for stage in range(devices):
            for r in range(devices):
                sender = (stage + r) % devices
                with torch.cuda.stream(streams[r][stage]):
                    tile = source[sender][:, r * s : (r + 1) * s]
                    if sender != r:
                        tile = staging[r][stage].copy_(tile, non_blocking=True)
                    target[r][:, sender * s : (sender + 1) * s].copy_(tile.t(), non_blocking=True)

    seconds = host_median(run, devices, replays=20 if n <= 8192 else 1)
    verified = all(
        torch.equal(target[r][:, q * s : (q + 1) * s].cpu(), source[q][:, r * s : (r + 1) * s].t().cpu())
        for r in range(devices)
        for q in (0, devices - 1)
    )
    report("transpose", "PyTorch P2P", devices, {"rows": n, "columns": n}, seconds, 8 * n * n, "B/s", verified)


def sums(total, devices):
    n = total // devices
    parts = [torch.rand(n, device=f"cuda:{d}") for d in range(devices)]
    streams = [torch.cuda.Stream(device=d) for d in range(devices)]
    out = [torch.empty((), device=f"cuda:{d}") for d in range(devices)]
    gathered = torch.empty(devices, device="cuda:0")
    result = torch.empty((), device="cuda:0")
    done = [torch.cuda.Event() for _ in range(devices)]

    def plain(_):
        """What most would write: PyTorch orders copies between devices itself."""
        for d in range(devices):
            torch.sum(parts[d], dim=0, out=out[d])
        for d in range(devices):
            gathered[d].copy_(out[d], non_blocking=True)
        torch.sum(gathered, dim=0, out=result)

    def events(_):
        """Streams and events by hand."""
        for d in range(devices):
            with torch.cuda.stream(streams[d]):
                torch.sum(parts[d], dim=0, out=out[d])
                done[d].record(streams[d])
        with torch.cuda.device(0), torch.cuda.stream(streams[0]):
            for d in range(devices):
                streams[0].wait_event(done[d])
                gathered[d].copy_(out[d], non_blocking=True)
            torch.sum(gathered, dim=0, out=result)

    replays = 50 if total <= 1 << 28 else 3
    seconds = min(host_median(run, devices, replays=replays) for run in (plain, events))
    exact = sum(float(p.sum(dtype=torch.float64)) for p in parts)
    verified = abs(float(result) - exact) <= 1e-4 * exact
    report("sum", "PyTorch", devices, {"elements": total}, seconds, 4 * total, "B/s", verified)


def filling_median(run, rounds=ROUNDS):
    """As `event_median`, with as many replays as fill 20 ms, so that neither launches nor allocations count."""
    return event_median(run, rounds, replays=max(1, round(0.02 / event_median(run, rounds=3))))


def product_error(a, b, c):
    """The largest component of |(C - A B) x| in f64."""
    x = torch.rand(b.shape[1], 1, device="cuda:0", dtype=torch.float64)
    return (c.double() @ x - a.double() @ (b.double() @ x)).abs().max().item()


def random_operands(m, n, k, dtype=torch.float32):
    """Uniform in [-1, 1)."""
    return ((2 * torch.rand(*shape, device="cuda:0") - 1).to(dtype) for shape in ((m, k), (k, n)))


def tensor_cores():
    """What products on tensor cores are measured beside: cuBLAS f32, and f16 with sums and a result in f32."""
    narrow = [shape for size in (64, 128, 256, 512) for shape in ((size, 8192, 8192), (8192, size, 8192))]
    for m, n, k in [(n, n, n) for n in (4096, 8192, 16384)]:
        a, b = random_operands(m, n, k)
        c = torch.empty(m, n, device="cuda:0")
        seconds = filling_median(lambda i: torch.mm(a, b, out=c), rounds=ROUNDS if n <= 8192 else 5)
        verified = product_error(a, b, c) < 1e-3 * k
        report("gemm f32", "cuBLAS", 1, {"m": m, "n": n, "k": k}, seconds, 2 * m * n * k, "FLOP/s", verified)
    for m, n, k in [(4096, 4096, 4096), (8192, 8192, 8192), *narrow]:
        a, b = random_operands(m, n, k, torch.float16)
        seconds = filling_median(lambda i: torch.mm(a, b, out_dtype=torch.float32))
        c = torch.mm(a, b, out_dtype=torch.float32)
        verified = product_error(a, b, c) < 1e-3 * k
        report("gemm f16", "cuBLAS", 1, {"m": m, "n": n, "k": k}, seconds, 2 * m * n * k, "FLOP/s", verified)


def three_tf32():
    """f32 by three TF32 products, through Triton, with the best of a few tiles."""
    from tf32x3 import TILES, multiply

    best = None
    for n in (4096, 8192, 16384):
        a, b = random_operands(n, n, n)
        c = torch.empty(n, n, device="cuda:0")
        if best is None:
            rates = {}
            for tile in TILES:
                try:
                    rates[tile] = event_median(lambda i: multiply(a, b, c, tile), rounds=3, warm=1)
                except Exception as error:  # A tile that needs more shared memory than there is.
                    print(f"# 3xTF32 {tile}: {str(error)[:200]}", file=sys.stderr, flush=True)
            best = min(rates, key=rates.get)
        seconds = event_median(lambda i: multiply(a, b, c, best), rounds=ROUNDS if n <= 8192 else 3)
        shape = {"m": n, "n": n, "k": n, "tile": " × ".join(map(str, best[:3]))}
        verified = product_error(a, b, c) < 1e-3 * n
        report("gemm f32", "3xTF32 (Triton)", 1, shape, seconds, 2 * n**3, "FLOP/s", verified)


def gemm(m, n, k, tf32=False):
    torch.backends.cuda.matmul.allow_tf32 = tf32
    a, b = torch.rand(m, k, device="cuda:0") - 0.5, torch.rand(k, n, device="cuda:0") - 0.5
    c = torch.empty(m, n, device="cuda:0")
    seconds = event_median(lambda i: torch.mm(a, b, out=c))
    x = torch.rand(n, 1, device="cuda:0", dtype=torch.float64)
    error = (c.double() @ x - a.double() @ (b.double() @ x)).abs().max().item()
    verified = error < (1e-1 if tf32 else 1e-3) * k
    name = "cuBLAS TF32" if tf32 else "cuBLAS"
    report("gemm", name, 1, {"m": m, "n": n, "k": k}, seconds, 2 * m * n * k, "FLOP/s", verified)
    torch.backends.cuda.matmul.allow_tf32 = False


def cublas_library():
    for name in ("libcublas.so.13", "libcublas.so.12", "libcublas.so"):
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    roots = [os.path.dirname(torch.__file__) + "/..", "/usr/local/cuda/lib64", "/usr/local/cuda/targets/x86_64-linux/lib"]
    for root in roots:
        for path in sorted(glob.glob(f"{root}/**/libcublas.so.1*", recursive=True)):
            return ctypes.CDLL(path)
    raise OSError("libcublas.so.12 or .13 is not found")


def gemm_host(n, devices, blocks=(1024, 2048, 4096, 8192)):
    """cuBLASXt, page-locked operands, its best block size (it computes in column-major order: C' = B' A')."""
    library = cublas_library()
    handle = ctypes.c_void_p()
    assert library.cublasXtCreate(ctypes.byref(handle)) == 0
    ids = (ctypes.c_int * devices)(*range(devices))
    assert library.cublasXtDeviceSelect(handle, devices, ids) == 0
    a, b, c = (torch.empty(n, n, pin_memory=True) for _ in range(3))
    for operand in (a, b):
        operand.copy_(torch.rand(n, n, device="cuda:0") - 0.5)
    one, zero = ctypes.c_float(1), ctypes.c_float(0)
    size, no = ctypes.c_size_t(n), ctypes.c_int(0)

    def run(_):
        status = library.cublasXtSgemm(
            handle, no, no, size, size, size,
            ctypes.byref(one), ctypes.c_void_p(b.data_ptr()), size,
            ctypes.c_void_p(a.data_ptr()), size,
            ctypes.byref(zero), ctypes.c_void_p(c.data_ptr()), size,
        )
        assert status == 0, status

    best = None
    rounds = ROUNDS if n <= 16384 else 3
    for block in (block for block in blocks if block < n):
        assert library.cublasXtSetBlockDim(handle, block) == 0
        seconds = host_median(run, devices, rounds=3 if best else 3, warm=1)
        if best is None or seconds < best[1]:
            best = (block, seconds)
    assert library.cublasXtSetBlockDim(handle, best[0]) == 0
    seconds = host_median(run, devices, rounds=rounds, warm=1)
    g = torch.rand(n, 1, dtype=torch.float64, device="cuda:0")
    rows = slice(0, min(n, 512))
    a_rows, c_rows, all_b = (x.to("cuda:0").double() for x in (a[rows], c[rows], b))
    error = (c_rows @ g - a_rows @ (all_b @ g)).abs().max().item()
    del a_rows, c_rows, all_b
    torch.cuda.empty_cache()
    shape = {"m": n, "n": n, "k": n, "block": best[0]}
    report("gemm-streamed", "cuBLASXt", devices, shape, seconds, 2 * n**3, "FLOP/s", error < 1e-3 * n)
    library.cublasXtDestroy(handle)


def cufft_library():
    try:
        return ctypes.CDLL("libcufft.so")
    except OSError:
        pass
    roots = [os.path.dirname(torch.__file__) + "/..", "/usr/local/cuda/lib64", "/usr/local/cuda/targets/x86_64-linux/lib"]
    for root in roots:
        for path in sorted(glob.glob(f"{root}/**/libcufft.so.1*", recursive=True)):
            return ctypes.CDLL(path)
    raise OSError("libcufft.so is not found")


def transforms():
    """
    cuFFT's own plans, out of place: lines of one length over 2^27 values, squares, cubes, real lines both ways. PyTorch's functions copy their results
    into `out`, and the input of a transform to real numbers, so they are not timed. Checked beside complex128 on the first line, or by the energy.
    """
    library = cufft_library()
    c2c, r2c, c2r = 0x29, 0x2A, 0x2C

    def time_plan(shape, axes, kind, source, target):
        """`shape` is that of the real side; all axes, or the last one."""
        lengths = [shape[axis] for axis in axes]
        rank, batch = len(lengths), math.prod(shape) // math.prod(lengths)
        plan, sizes = ctypes.c_int(), (ctypes.c_int * rank)(*lengths)
        status = library.cufftPlanMany(ctypes.byref(plan), rank, sizes, None, 1, 0, None, 1, 0, kind, batch)
        assert status == 0, f"cufftPlanMany: {status}"
        where = ctypes.c_void_p(source.data_ptr()), ctypes.c_void_p(target.data_ptr())
        execute = {c2c: library.cufftExecC2C, r2c: library.cufftExecR2C, c2r: library.cufftExecC2R}[kind]
        direction = (ctypes.c_int(-1),) if kind == c2c else ()

        def run(_):
            status = execute(plan, *where, *direction)
            assert status == 0, f"cufftExec: {status}"

        seconds = event_median(run, replays=5)
        library.cufftDestroy(plan)
        return seconds

    def agrees(found, expected):
        return (torch.linalg.norm(found - expected) / torch.linalg.norm(expected)).item() < 1e-6

    def complex_array(x, y, shape, axes):
        count, together = math.prod(shape), math.prod(shape[axis] for axis in axes)
        a, b = x[:count].view(shape), y[:count].view(shape)
        seconds = time_plan(shape, axes, c2c, a, b)
        if 0 in axes:
            energy = torch.linalg.vector_norm(b).item() / (torch.linalg.vector_norm(a).item() * math.sqrt(together))
            verified = abs(energy - 1) < 1e-5
        else:
            verified = agrees(b[:1], torch.fft.fftn(a[:1].to(torch.complex128), dim=axes))
        sides = {f"axis{i}": n for i, n in enumerate(shape)}
        report("fft", "cuFFT", 1, sides, seconds, 5 * count * math.log2(together), "FLOP/s", verified)

    def random_complex(count):
        return torch.view_as_complex(torch.rand(count, 2, device="cuda:0").mul_(2).sub_(1))

    total = 1 << 27
    x = random_complex(total)
    y = torch.empty_like(x)
    for n in [*(1 << k for k in range(5, 21)), 243, 1000, 1536, 2187, 2401, 3125, 6561, 127, 509, 1009, 2039, 8191]:
        complex_array(x, y, (total // n, n), (1,))
    complex_array(x, y, (8192, 8192), (0, 1))
    complex_array(x, y, (512, 512, 512), (0, 1, 2))
    for n in (512, 1024, 4096, 1 << 16):
        shape, operations = {"axis0": total // n, "axis1": n}, 2.5 * total * math.log2(n)
        r = torch.view_as_real(x).flatten()[:total].view(total // n, n)
        half = torch.empty(total // n, n // 2 + 1, dtype=torch.complex64, device="cuda:0")
        back = torch.empty_like(r)
        seconds = time_plan((total // n, n), (1,), r2c, r, half)
        verified = agrees(half[:1], torch.fft.rfft(r[:1].to(torch.float64), dim=1))
        report("fft", "cuFFT r2c", 1, shape, seconds, operations, "FLOP/s", verified)
        seconds = time_plan((total // n, n), (1,), c2r, half, back)
        verified = agrees(back[:1] / n, r[:1])
        report("fft", "cuFFT c2r", 1, shape, seconds, operations, "FLOP/s", verified)
        del r, half, back
    del x, y
    torch.cuda.empty_cache()
    x = random_complex(1 << 30)
    y = torch.empty_like(x)
    complex_array(x, y, (16384, 16384), (0, 1))
    complex_array(x, y, (1024, 1024, 1024), (0, 1, 2))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--devices", type=int, default=torch.cuda.device_count())
    parser.add_argument("--only", default="limits,transpose,sum,gemm,gemm-xt")
    parser.add_argument("--largest-host", type=int, default=32768, help="largest matrices in host memory")
    parser.add_argument("--out")
    options = parser.parse_args()
    devices, only = options.devices, set(options.only.split(","))
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.manual_seed(int(time.time()))
    if "limits" in only:
        limits(devices)
    if "transpose" in only:
        transpose_one(16384)
        for count in sorted({2, devices} - {1}):
            if count <= devices:
                for n in (2048, 8192, 32768):
                    transpose_many(n, count)
                    torch.cuda.empty_cache()
    if "sum" in only:
        sums(1 << 29, 1)
        for total in (1 << 22, 1 << 28, 1 << 31):
            sums(total, devices)
        torch.cuda.empty_cache()
    if "gemm" in only:
        for n in (1024, 2048, 4096, 8192, 16384):
            gemm(n, n, n)
        for narrow in (64, 128, 256, 512):
            gemm(narrow, 8192, 8192)
            gemm(8192, narrow, 8192)
        for n in (4096, 8192):
            gemm(n, n, n, tf32=True)
        torch.cuda.empty_cache()
    if "fft" in only:
        transforms()
        torch.cuda.empty_cache()
    if "tensor" in only:
        tensor_cores()
        torch.cuda.empty_cache()
    if "tf32x3" in only:
        three_tf32()
        torch.cuda.empty_cache()
    if "gemm-xt" in only:
        for n in (8192, 16384, 32768):
            if n <= options.largest_host:
                gemm_host(n, devices)
    document = {
        "schema": 1,
        "kind": "peers",
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "gpus": [torch.cuda.get_device_name(d) for d in range(torch.cuda.device_count())],
        "results": RESULTS,
    }
    text = json.dumps(document, indent=1)
    if options.out:
        with open(options.out, "w", encoding="utf8") as file:
            file.write(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
