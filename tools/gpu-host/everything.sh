#!/bin/bash
# Everything that is proven on GPUs, side by side on a machine with eight, in one call of SECONDS (default 270):
#   bash tools/gpu-host/everything.sh [SECONDS] [COMMIT] [MULTIPLE]
# MULTIPLE: of the seconds on a machine with four GPUs, those for what needs all four; 0 leaves it out.
# First the table's rows on all eight, alone. Then GPU 0: tests and sanitizer. 1: single-GPU rows of the table, missing libraries,
# WebGPU. 2, 3: the soak. 4-7: conformance and multi-GPU rows. With four GPUs the multi-GPU rows come first, alone. Logs and documents go to $OUT as one archive, renewed every 10 s, so
# that a call cut short leaves what it had.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${1:-270}
commit=${2:-unknown}
multiple=${3:-$((seconds * 11 / 20))}
out=${OUT:-gpu-host-logs}
logs=$(mktemp -d)
mkdir -p "$out"
bundle=.gpu-bundle/run
table="tools/gpu-host/table.ts --commit $commit"
if [ -d .gl ]; then
  for f in .gl/*.deb; do dpkg -x "$f" /; done
  ldconfig
fi
keep() { tar -C "$logs" -czf "$out/.logs.tgz" . && mv "$out/.logs.tgz" "$out/logs.tgz"; }
# Whatever hangs, the archive follows.
(while sleep 10; do keep; done) &
keeper=$!
trap 'kill $keeper' EXIT

nvidia-smi >"$logs/nvidia-smi.txt"
timeout -k 5 60 bash $bundle tandem devices --backend cuda >"$logs/devices.txt" 2>&1 # unpacks the bundle before the jobs share it

export GPU_BUNDLE_UNPACKED=1

# Seconds left, less $1; at least 1, because `timeout 0` has no end.
left() { local rest=$((seconds - SECONDS - ${1:-0})); echo $((rest > 1 ? rest : 1)); }

soak() {
  CUDA_VISIBLE_DEVICES=2,3 timeout -k 5 "$(left)" bash $bundle tools/gpu-host/soak.ts "$(left 14)" 2 >"$logs/soak.json" 2>"$logs/soak-progress.txt"
  echo "soak: exit $?" >>"$logs/summary.txt"
}

correctness() {
  export CUDA_VISIBLE_DEVICES=0
  timeout -k 5 "$(left 5)" bash $bundle vitest run --root packages/cli src/kernel-corpus.test.ts >"$logs/corpus.txt" 2>&1
  echo "corpus: exit $?" >>"$logs/summary.txt"
  for tool in memcheck racecheck; do
    for work in "transpose --rows 100 --cols 77" "reduce --elements 100000 --type i32" "matmul --m 70 --k 65 --n 90" "jacobi --rows 40 --cols 50 --iterations 20"; do
      timeout -k 5 "$(left 2)" compute-sanitizer --tool $tool --error-exitcode 9 --target-processes all bash $bundle tandem $work --backend cuda --devices 1 --json >>"$logs/sanitizer-$tool.txt" 2>&1
      echo "$tool ${work%% *}: exit $? $(grep -E 'SUMMARY' "$logs/sanitizer-$tool.txt" | tail -1)" >>"$logs/summary.txt"
    done
  done
  TANDEM_TEST_BACKEND=cuda timeout -k 5 "$(left 2)" bash $bundle vitest run --root packages/algorithms >"$logs/algorithms-1gpu.txt" 2>&1
  echo "algorithms on 1 GPU: exit $?" >>"$logs/summary.txt"
}

# What a user sees when a library is missing.
without() {
  local name=$1 command
  for command in "doctor" "devices" "reduce --elements 1000"; do
    echo "\$ tandem $command --backend cuda"
    HOME=$(mktemp -d) HIDE_LIBRARY=$name LD_PRELOAD=$logs/hide-library.so timeout -k 5 40 bash $bundle tandem $command --backend cuda
    echo "exit $?"
  done >"$logs/without-$name.txt" 2>&1
}

single() {
  export CUDA_VISIBLE_DEVICES=1
  timeout -k 5 "$(left 3)" bash $bundle $table --counts 1 --rows transpose,sum,ladder,gemm,jacobi --out "$logs/single.json" >"$logs/single.txt" 2>&1
  echo "single-GPU table: exit $?" >>"$logs/summary.txt"
  cc -shared -fPIC tools/gpu-host/hide-library.c -o "$logs/hide-library.so"
  for name in libcuda libnvrtc libnvidia-ml; do without $name; done
  (TANDEM_TEST_BACKEND=webgpu timeout -k 5 "$(left 2)" bash $bundle vitest run --root packages/backend-webgpu src/conformance.test.ts) >"$logs/conformance-webgpu.txt" 2>&1
  echo "webgpu conformance on the GPU: exit $?" >>"$logs/summary.txt"
  timeout -k 5 "$(left 2)" bash $bundle tandem demo --backend webgpu --folder "$logs/demo-webgpu" >"$logs/demo-webgpu.txt" 2>&1
  timeout -k 5 "$(left 2)" bash $bundle tandem demo --backend cuda --folder "$logs/demo-cuda" >"$logs/demo-cuda.txt" 2>&1
  timeout -k 5 "$(left 2)" bash $bundle $table --backend webgpu --no-peers --counts 1 --rows transpose,sum,gemm,jacobi --out "$logs/webgpu.json" >"$logs/webgpu.txt" 2>&1
}

# multiple GPUS SECONDS: what needs four GPUs, in the order in which it matters.
multiple() {
  export CUDA_VISIBLE_DEVICES=$1
  local end=$((SECONDS + $2))
  until_end() { echo $((end - SECONDS > 1 ? end - SECONDS : 1)); }
  # One after the other: two processes whose kernels wait for each other across GPUs take turns on each GPU, and crawl.
  for test in conformance hardware; do
    timeout -k 5 40 bash $bundle vitest run --root packages/backend-cuda src/$test.test.ts >"$logs/$test-4gpus.txt" 2>&1
    echo "$test tests on 4 GPUs: exit $? at $SECONDS s" >>"$logs/summary.txt"
  done
  timeout -k 5 "$(until_end)" bash $bundle $table --counts 4 --largest-host 16384 --rows transpose,sum,jacobi,gemm-streamed,host --out "$logs/four.json" >"$logs/four.txt" 2>&1
  echo "4-GPU table: exit $? at $SECONDS s" >>"$logs/summary.txt"
  timeout -k 5 "$(until_end)" bash $bundle $table --no-peers --counts 2,4 --rows schedules --out "$logs/schedules.json" >"$logs/schedules.txt" 2>&1
  echo "schedules: exit $? at $SECONDS s" >>"$logs/summary.txt"
  timeout -k 5 "$(until_end)" bash $bundle $table --no-peers --no-verify --counts 1,4 --rows gemm-resident --out "$logs/resident.json" >"$logs/resident.txt" 2>&1
  TANDEM_TEST_BACKEND=cuda timeout -k 5 "$(until_end)" bash $bundle vitest run --root packages/algorithms >"$logs/algorithms-4gpus.txt" 2>&1
  echo "algorithms on 4 GPUs: exit $? at $SECONDS s" >>"$logs/summary.txt"
}

if [ "$(nvidia-smi -L | wc -l)" -ge 8 ]; then
  timeout -k 5 50 bash $bundle $table --no-peers --no-verify --counts 8 --rows jacobi,gemm-resident --out "$logs/eight.json" >"$logs/eight.txt" 2>&1
  echo "8-GPU table: exit $? at $SECONDS s" >>"$logs/summary.txt"
  multiple 4,5,6,7 "$(left 5)" &
else
  [ "$multiple" -eq 0 ] || multiple 0,1,2,3 "$multiple"
fi
keep
soak &
correctness &
single &

while [ "$(jobs -r | wc -l)" -gt 1 ] && [ "$(left)" -gt 2 ]; do
  sleep 2
done
keep
cat "$logs/summary.txt"
grep -hE '^(met|MISSED)' "$logs"/*.txt
