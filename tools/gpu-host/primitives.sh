#!/bin/bash
# Scan, histogram and sort on a GPU host, in one job: right on CUDA, then timed beside CUB and PyTorch. From the root of a copy of the working tree
# that carries .gpu-bundle: bash tools/gpu-host/primitives.sh [FOLDER for the figures, default /tmp] [a built tools/peers/cub.cu]
set -uo pipefail
out=${1:-/tmp}
cub=${2:-/tmp/tandem-cub-peers}
[ -x "$cub" ] || nvcc -O3 -std=c++17 -arch=native -o "$cub" tools/peers/cub.cu
tandem() { bash .gpu-bundle/run "$@"; }
TANDEM_TEST_BACKEND=cuda tandem vitest run --root packages/algorithms src/scan src/histogram src/sort 2>&1 | tail -40
{
  tandem tools/gpu-host/primitives.ts 1 28,22
  "$cub" 28 22
  python3 tools/peers/primitives.py 28 22
  if [ "$(nvidia-smi -L | wc -l)" -ge 2 ]; then tandem tools/gpu-host/primitives.ts "$(nvidia-smi -L | wc -l)" 30,22; fi
} >"$out/primitives.jsonl"
tandem tools/gpu-host/primitives-table.ts <"$out/primitives.jsonl"
