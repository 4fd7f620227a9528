#!/bin/bash
# Scan, histogram, sort and transforms on a GPU host, in one job: right on CUDA, then timed beside CUB, PyTorch and cuFFT. From the root of a copy of
# the working tree that carries .gpu-bundle: bash tools/gpu-host/primitives.sh [FOLDER for the figures, default /tmp] [a built tools/peers/cub.cu]
# What the documents quote follows from the figures by
#   node tools/gpu-host/primitives-table.ts --out docs/measurements/TABLE.json --machine NAME --commit ID < FOLDER/primitives.jsonl
#   node tools/gpu-host/figures.ts docs/measurements/TABLE.json
set -uo pipefail
out=${1:-/tmp}
cub=${2:-/tmp/tandem-cub-peers}
[ -x "$cub" ] || nvcc -O3 -std=c++17 -arch=native -o "$cub" tools/peers/cub.cu
tandem() { bash .gpu-bundle/run "$@"; }
TANDEM_TEST_BACKEND=cuda tandem vitest run --root packages/algorithms src/scan src/histogram src/sort src/fft 2>&1 | tail -40
python3 tools/peers/peers.py --only fft --devices 1 --out "$out/peers-fft.json" >"$out/peers-fft.log"
{
  tandem tools/gpu-host/primitives.ts 1 28,22
  "$cub" 28 22
  python3 tools/peers/primitives.py 28 22
  if [ "$(nvidia-smi -L | wc -l)" -ge 2 ]; then tandem tools/gpu-host/primitives.ts "$(nvidia-smi -L | wc -l)" 30,22; fi
  tandem tools/gpu-host/fft-table.ts "$out/peers-fft.json"
} >"$out/primitives.jsonl"
tandem tools/gpu-host/primitives-table.ts <"$out/primitives.jsonl"
