#!/bin/bash
# Proves on a machine with four GPUs (with fewer, what it can) what CI cannot: canaries around clamped kernels, conformance and the algorithms' tests on 4, 2 and 1 GPUs, the
# command line's acceptance, topology and bandwidth, the kernel corpus, the conformance kernels, compute-sanitizer, WebGPU through Vulkan, what a user without a library sees, and with SOAK seconds above 0 a soak on two GPUs:
#   bash tools/gpu-host/proofs.sh [SOAK, default 0]
# Needs `tools/gpu-bundle --webgpu` in .gpu-bundle and, for Vulkan where no loader is installed, Debian's in .gl. Logs come to $OUT as one
# archive, renewed every 10 s, so that a call cut short leaves what it had. Figures are table.ts's.
soak=${1:-0}
. "$(dirname "${BASH_SOURCE[0]}")/proof-logs.sh" logs.tgz
if [ -d .gl ]; then
  for f in .gl/*.deb; do dpkg -x "$f" /; done
  ldconfig
fi

# proof GPUS SECONDS NAME COMMAND...: one line in the summary, the rest in a log of its own
proof() {
  local gpus=$1 limit=$2 name=$3 from=$SECONDS status
  shift 3
  CUDA_VISIBLE_DEVICES=$gpus timeout -k 5 "$limit" "$@" >>"$logs/$name.txt" 2>&1
  status=$?
  echo "$name on GPU $gpus: exit $status, $((SECONDS - from)) s. $(sed 's/\x1b\[[0-9;]*m//g' "$logs/$name.txt" | grep -E 'Tests  |ERROR SUMMARY|RACECHECK SUMMARY|[0-9] kernels,|[0-9] cases,' | tail -1)" >>"$logs/summary.txt"
}

nvidia-smi >"$logs/nvidia-smi.txt"
proof 0 60 doctor bash $bundle tandem doctor --backend cuda # unpacks the bundle before the jobs share it
export GPU_BUNDLE_UNPACKED=1 TANDEM_TEST_BACKEND=cuda
count=$(nvidia-smi -L | wc -l)
all=$(seq -s, 0 $((count - 1)))

# One after the other: kernels of two processes that wait for each other across GPUs take turns on each GPU, and crawl.
proof "$all" 60 conformance bash $bundle vitest run --root packages/backend-cuda src/conformance.test.ts
proof "$all" 60 hardware bash $bundle vitest run --root packages/backend-cuda src/hardware.test.ts
proof "$all" 150 "algorithms-$count-gpus" bash $bundle vitest run --root packages/algorithms

proof 0 120 canaries bash $bundle vitest run --root packages/backend-cuda src/clamp-canaries.test.ts
proof "$all" 120 group-model bash $bundle vitest run --root packages/cli src/group-model.test.ts
proof 0 120 canaries-memcheck compute-sanitizer --tool memcheck --error-exitcode 9 --target-processes all bash $bundle vitest run --root packages/backend-cuda src/clamp-canaries.test.ts -t 'no kernel bounded'
proof "$all" 60 threads bash $bundle packages/backend-cuda/src/testing/threads.ts '{}'
proof "$all" 120 time-limit bash $bundle tools/gpu-host/time-limit.ts "$count"
proof 0 120 endless-kernels bash $bundle tools/gpu-host/endless-kernels.ts

tandem() { # tandem NAME ARGUMENTS...
  proof "$all" 60 "$1" bash $bundle tandem "${@:2}" --backend cuda
}
same() { # same WHAT FILES...: how many different contents
  echo "$1: $(sha256sum "${@:2}" | cut -c1-16 | sort | uniq -c | tr -s ' \n' ' ')" >>"$logs/summary.txt"
}
tandem devices devices
tandem topology topology
tandem select select --count $(((count + 1) / 2)) --by utilization --explain
tandem bandwidth bandwidth
for schedule in overlapped serial; do
  tandem "transpose-$schedule" transpose --rows 768 --cols 1024 --devices "$count" --schedule $schedule --json
done
tandem transpose-ragged transpose --rows 1000 --cols 777 --devices 3 --virtual --json
tandem transpose-small transpose --rows 5 --cols 3 --devices "$count" --json
tandem transpose-one transpose --rows 1 --cols 1 --devices 2 --virtual --json
for kernel in atomic interleaved-divergent interleaved-conflicts sequential best; do
  tandem "reduce-$kernel" reduce --elements 4194304 --type i32 --kernel $kernel --devices "$count" --json
done
for devices in 1 2 3 4 8; do
  tandem "reduce-f32-$devices" reduce --elements 4194304 --type f32 --devices $devices --virtual --json
  grep -o '"valueBits": *"[^"]*"' "$logs/reduce-f32-$devices.txt" >"$logs/bits-$devices"
done
same "bits of the f32 sum on 1, 2, 3, 4, 8 devices, $(cat "$logs/bits-1")" "$logs"/bits-*
tandem matmul matmul --m 300 --k 257 --n 129 --devices 3 --virtual --json
tandem matmul-streamed matmul --m 300 --k 257 --n 129 --devices 3 --virtual --stream-width 64 --memory-limit 150000 --json
for devices in 1 2 "$count"; do
  tandem "jacobi-$devices" jacobi --rows 257 --cols 129 --iterations 500 --devices "$devices" --virtual --decomposition 2d --output "$logs/jacobi-$devices.npy" --json
done
same "Jacobi's files on 1, 2 and $count devices" "$logs"/jacobi-*.npy
echo "verified: $(grep -l '"verified": *true' "$logs"/*.txt | wc -l) results; not verified: $(grep -l '"verified": *false' "$logs"/*.txt | wc -l)" >>"$logs/summary.txt"

two() {
  [ "$count" -ge 2 ] || return
  proof 0,1 60 conformance-2-gpus bash $bundle vitest run --root packages/backend-cuda src/conformance.test.ts
  [ "$count" -eq 2 ] || proof 0,1 150 algorithms-2-gpus bash $bundle vitest run --root packages/algorithms
  [ "$soak" -eq 0 ] || proof 0,1 $((soak + 90)) soak bash $bundle tools/gpu-host/soak.ts "$soak" 2
}

one() {
  proof "$1" 60 conformance-1-gpu bash $bundle vitest run --root packages/backend-cuda src/conformance.test.ts
  [ "$count" -eq 1 ] || proof "$1" 150 algorithms-1-gpu bash $bundle vitest run --root packages/algorithms
  for tool in memcheck racecheck; do
    for work in "transpose --rows 100 --cols 77" "reduce --elements 100000 --type i32" "matmul --m 70 --k 65 --n 90" "matmul --m 1100 --k 600 --n 1100" "jacobi --rows 40 --cols 50 --iterations 20"; do
      proof "$1" 90 "$tool-${work%% *}" compute-sanitizer --tool $tool --error-exitcode 9 --target-processes all bash $bundle tandem $work --backend cuda --devices 1 --json
    done
  done
}

others() {
  proof "$1" 150 corpus bash $bundle vitest run --root packages/cli src/kernel-corpus.test.ts
  proof "$1" 150 conformance-kernels bash $bundle vitest run --root packages/backend-cuda src/kernels.test.ts
  TANDEM_TEST_BACKEND=webgpu proof "$1" 60 conformance-webgpu bash $bundle vitest run --root packages/backend-webgpu src/conformance.test.ts
  TANDEM_TEST_BACKEND=webgpu proof "$1" 150 algorithms-webgpu bash $bundle vitest run --root packages/algorithms
  proof "$1" 60 demo-webgpu bash $bundle tandem demo --backend webgpu --folder "$logs/demo-webgpu"
  proof "$1" 60 demo-cuda bash $bundle tandem demo --backend cuda --folder "$logs/demo-cuda"
  cmp "$logs/demo-webgpu/jacobi.png" "$logs/demo-cuda/jacobi.png" && echo "both demos draw the same picture" >>"$logs/summary.txt"
  cc -shared -fPIC tools/gpu-host/hide-library.c -o "$logs/hide-library.so"
  for name in libcuda libnvrtc libnvidia-ml; do
    for command in "doctor" "devices" "reduce --elements 1000"; do
      echo "\$ tandem $command --backend cuda" >>"$logs/without-$name.txt"
      HOME=$(mktemp -d) HIDE_LIBRARY=$name LD_PRELOAD=$logs/hide-library.so proof "$1" 40 "without-$name" bash $bundle tandem $command --backend cuda
    done
  done
}

two &
two=$!
one $((2 % count)) &
one=$!
others $((3 % count)) &
wait $two $one $!
keep
cat "$logs/summary.txt"
# What fails without a library is meant to.
! grep -v '^without-' "$logs/summary.txt" | grep -qE 'exit [1-9]|not verified: [1-9]'
