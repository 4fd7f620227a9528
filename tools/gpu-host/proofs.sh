#!/bin/bash
# Proves on a machine with NVIDIA GPUs what CI cannot:
#   bash tools/gpu-host/proofs.sh [one] [SOAK]      one process: conformance and the algorithms' tests on all, two and one GPU and on WebGPU through Vulkan, canaries
#        around clamped kernels, kernels that never end, the command line, the kernel corpus, compute-sanitizer, what a user without a library sees
#   bash tools/gpu-host/proofs.sh ranks             groups over processes, one for each GPU: conformance, the algorithms' bits, time limits and 1,000 random programs over every transport
#   bash tools/gpu-host/proofs.sh pairs [SOAK]      the same with two processes, memory, failures of ranks, and the soak test beside them where there are four GPUs or more
# With SOAK seconds also a soak of that length. Needs `tools/gpu-bundle --webgpu` in .gpu-bundle, Open MPI's mpirun for `ranks` (first in PATH one that takes GPU memory, from
# gpu-aware-openmpi.sh, for that transport too), and for Vulkan where no loader is installed, Debian's packages in .gl. Logs come to $OUT/logs.tgz, renewed every 10 s, so
# that a call cut short leaves what it had. Figures are table.ts's.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
part=${1:-one}
soak=${2:-0}
out=${OUT:-gpu-host-logs}
logs=$(mktemp -d)
mkdir -p "$out"
keep() { tar -C "$logs" -czf "$out/.logs.tgz" . && mv "$out/.logs.tgz" "$out/logs.tgz"; }
(while sleep 10; do keep; done) &
keeper=$!
trap 'kill $keeper' EXIT
run="bash .gpu-bundle/run"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# proof GPUS SECONDS NAME COMMAND...: one line in the summary, the rest in a log of its own
proof() {
  local gpus=$1 limit=$2 name=$3 from=$SECONDS status
  shift 3
  CUDA_VISIBLE_DEVICES=$gpus timeout -k 5 "$limit" "$@" >>"$logs/$name.txt" 2>&1
  status=$?
  echo "$name on GPU $gpus: exit $status, $((SECONDS - from)) s. $(sed 's/\x1b\[[0-9;]*m//g' "$logs/$name.txt" | grep -E 'Tests  |ERROR SUMMARY|RACECHECK SUMMARY|[0-9] kernels,|"passed"|same bits|has its limits|"problems"|are right|comes back' | tail -1 | cut -c1-200)" >>"$logs/summary.txt"
}
tests() { proof "$1" 200 "$2" $run vitest run --root "packages/$3" "${@:4}"; } # tests GPUS NAME PACKAGE FILES...
tandem() { proof "$1" 60 "$2" $run tandem "${@:3}" --backend cuda; }           # tandem GPUS NAME ARGUMENTS...
same() { echo "$1: $(sha256sum "${@:2}" | cut -c1-16 | sort | uniq -c | tr -s ' \n' ' ')" >>"$logs/summary.txt"; }
first() { seq -s, 0 $(($1 - 1)); }

nvidia-smi >"$logs/nvidia-smi.txt"
tandem 0 doctor doctor # unpacks the bundle before the jobs share it
export GPU_BUNDLE_UNPACKED=1 TANDEM_TEST_BACKEND=cuda
count=$(nvidia-smi -L | wc -l)
all=$(first "$count")

one_process() {
  [ ! -d .gl ] || { for f in .gl/*.deb; do dpkg -x "$f" /; done && ldconfig; }
  # One after the other: kernels of two processes that wait for each other across GPUs take turns on each GPU, and crawl.
  tests "$all" hardware backend-cuda src/conformance.test.ts src/hardware.test.ts src/endless-kernels.test.ts src/unstoppable-kernels.test.ts
  tests "$all" algorithms algorithms
  tests "$all" group-model cli src/group-model.test.ts
  proof "$all" 60 threads $run packages/backend-cuda/src/testing/threads.ts '{}'
  for work in devices topology bandwidth "select --count $(((count + 1) / 2)) --by utilization --explain"; do tandem "$all" "${work%% *}" $work; done
  for devices in 1 2 3 4 8; do
    tandem "$all" "reduce-$devices" reduce --elements 4194304 --type f32 --devices $devices --virtual --json
    grep -o '"valueBits": *"[^"]*"' "$logs/reduce-$devices.txt" >"$logs/bits-$devices"
    tandem "$all" "jacobi-$devices" jacobi --rows 257 --cols 129 --iterations 500 --devices $devices --virtual --decomposition 2d --output "$logs/jacobi-$devices.npy" --json
  done
  same "bits of the f32 sum on 1, 2, 3, 4, 8 devices" "$logs"/bits-*
  same "Jacobi's files on as many" "$logs"/jacobi-*.npy
  echo "verified: $(grep -l '"verified": *true' "$logs"/*.txt | wc -l) results; not verified: $(grep -l '"verified": *false' "$logs"/*.txt | wc -l)" >>"$logs/summary.txt"
  two &
  two=$!
  sanitized $((2 % count)) &
  sanitized=$!
  others $((3 % count)) &
  wait $two $sanitized $!
}

two() {
  if [ "$count" -gt 2 ]; then
    tests 0,1 conformance-2 backend-cuda src/conformance.test.ts
    tests 0,1 algorithms-2 algorithms
  fi
  [ "$soak" -eq 0 ] || proof "$(first $((count < 2 ? 1 : 2)))" $((soak + 150)) soak $run tools/gpu-host/soak.ts "$soak" cuda $((count < 2 ? 1 : 2)) none
}

sanitized() {
  local sanitizer="compute-sanitizer --error-exitcode 9 --target-processes all --tool"
  tests "$1" conformance-1 backend-cuda src/conformance.test.ts src/clamp-canaries.test.ts
  [ "$count" -eq 1 ] || tests "$1" algorithms-1 algorithms
  proof "$1" 120 canaries-memcheck $sanitizer memcheck $run vitest run --root packages/backend-cuda src/clamp-canaries.test.ts -t 'no kernel bounded'
  for tool in memcheck racecheck; do
    for work in "transpose --rows 100 --cols 77" "reduce --elements 100000 --type i32" "matmul --m 1100 --k 600 --n 1100" "jacobi --rows 40 --cols 50 --iterations 20"; do
      proof "$1" 90 "$tool-${work%% *}" $sanitizer $tool $run tandem $work --backend cuda --devices 1 --json
    done
  done
}

others() {
  tests "$1" corpus cli src/kernel-corpus.test.ts
  tests "$1" conformance-kernels backend-cuda src/kernels.test.ts
  TANDEM_TEST_BACKEND=webgpu tests "$1" conformance-webgpu backend-webgpu src/conformance.test.ts
  TANDEM_TEST_BACKEND=webgpu tests "$1" algorithms-webgpu algorithms
  for backend in webgpu cuda; do proof "$1" 60 demo-$backend $run tandem demo --backend $backend --folder "$logs/demo-$backend"; done
  same "pictures of both demos" "$logs"/demo-*/jacobi.png
  cc -shared -fPIC tools/gpu-host/hide-library.c -o "$logs/hide-library.so"
  for name in libcuda libnvrtc libnvidia-ml; do
    HIDE_LIBRARY=$name LD_PRELOAD=$logs/hide-library.so tandem "$1" "without-$name" doctor
    HOME=$(mktemp -d) HIDE_LIBRARY=$name LD_PRELOAD=$logs/hide-library.so tandem "$1" "without-$name" reduce --elements 1000
  done
}

# job GPUS SECONDS NAME PROGRAM ARGUMENTS...: a program of backend-mpi's tests, with one process for each of the GPUs
job() {
  local ranks=packages/backend-mpi/src/testing commas=${1//[^,]/}
  proof "$1" "$2" "$3" mpirun --bind-to none -n $((${#commas} + 1)) \
    $run --disable-warning=ExperimentalWarning --import "./$ranks/source-hooks.ts" "$ranks/ranks/$4" "${@:5}"
}

# The transports that work here. Jobs on the same GPUs run one after another, since their ranks would take turns on each GPU.
transports="ipc nccl staged"
if [ "$part" = one ]; then :
elif ompi_info --parsable --all 2>/dev/null | grep -q 'mpi_built_with_cuda_support:value.*true'; then transports="$transports gpu-aware"
else echo "gpu-aware: not run, since this Open MPI does not take GPU memory" >>"$logs/summary.txt"; fi

# on_gpus GPUS: what is tested for any number of processes
on_gpus() {
  local commas=${1//[^,]/} transport
  local processes=$((${#commas} + 1))
  job "$1" 60 "chosen-$processes" transport.ts cuda
  for transport in $transports; do
    job "$1" 90 "conformance-$transport-$processes" conformance.ts cuda "$transport"
    job "$1" 180 "algorithms-$transport-$processes" algorithms.ts cuda "$transport"
    job "$1" 60 "time-limit-$transport-$processes" time-limit.ts cuda "$transport"
    job "$1" 240 "random-$transport-$processes" random-programs.ts cuda "$transport" 1000 "$processes"
  done
}

pairs() {
  local transport soaked
  if [ "$count" -ge 4 ]; then soak_ranks 2,3 & soaked=$!; fi
  on_gpus 0,1
  # Memory that a late rank still maps comes back: two thirds of a GPU's, allocated over and over. What Open MPI itself has mapped would not.
  for transport in $transports; do
    OMPI_MCA_btl_smcuda_use_cuda_ipc=0 FAKE_CUDA_MEMORY=$(($(nvidia-smi --id=0,1 --query-gpu=memory.free --format=csv,noheader,nounits | sort -n | head -1) * 1048576)) job 0,1 120 "memory-$transport" memory.ts "$transport" cuda
  done
  proof 0,1 300 failures $run vitest run --root packages/backend-mpi src/rank-failures.test.ts
  if [ "$count" -ge 4 ]; then wait "$soaked"; else soak_ranks 0,1; fi
}

# soak_ranks GPUS
soak_ranks() {
  local commas=${1//[^,]/}
  [ "$soak" -eq 0 ] || proof "$1" $((soak + 150)) soak $run tools/gpu-host/soak.ts "$soak" cuda $((${#commas} + 1))
}

ranks() {
  local transport
  on_gpus "$all"
  [ "$count" -lt 4 ] || for transport in $transports; do job 0,1,2 240 "random-$transport-3" random-programs.ts cuda "$transport" 1000 3; done
}

case $part in ranks) ranks ;; pairs) pairs ;; *) one_process ;; esac
keep
cat "$logs/summary.txt"
# What fails without a library is meant to.
! grep -v '^without-' "$logs/summary.txt" | grep -qE 'exit [1-9]|not verified: [1-9]'
