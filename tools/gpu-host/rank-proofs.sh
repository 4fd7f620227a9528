#!/bin/bash
# Proves on a machine with several GPUs, for groups over processes, what CI cannot: which transport is chosen, the conformance suite, the algorithms' bits and time limits over every transport
# with a process for each GPU and with two, 1,000 random programs over 2 to 4 processes beside groups that are opened and closed, and failures of ranks; with SOAK seconds above 0 also jobs with kills for that long:
#   bash tools/gpu-host/rank-proofs.sh [SOAK, default 0]
# Needs `tools/gpu-bundle` in .gpu-bundle and Open MPI's mpirun. Transport gpu-aware is part of it where that Open MPI takes GPU memory (gpu-aware-openmpi.sh builds one; put it first in
# PATH and LD_LIBRARY_PATH). One proof after another, since ranks of two jobs would take turns on each GPU. Logs come to $OUT/rank-logs.tgz, renewed every 10 s, so that a
# call cut short leaves what it had.
soak=${1:-0}
. "$(dirname "${BASH_SOURCE[0]}")/proof-logs.sh" rank-logs.tgz
ranks=packages/backend-mpi/src/testing
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# proof LIMIT NAME COMMAND...: one line in the summary, the rest in a log of its own
proof() {
  local limit=$1 name=$2 from=$SECONDS status
  shift 2
  timeout -k 5 "$limit" "$@" >"$logs/$name.txt" 2>&1
  status=$?
  echo "$name: exit $status, $((SECONDS - from)) s. $(grep -E '"passed"|same bits|has its limits|"wrong"|"problems"|are right|comes back' "$logs/$name.txt" | tail -1 | cut -c1-200)" >>"$logs/summary.txt"
}
# job LIMIT NAME PROCESSES PROGRAM ARGUMENTS...: a program of backend-mpi's tests, with one GPU for each process
job() {
  local limit=$1 name=$2 count=$3 program=$4
  shift 4
  CUDA_VISIBLE_DEVICES=$(seq -s, 0 $((count - 1))) proof "$limit" "$name" mpirun --bind-to none -n "$count" \
    bash $bundle --disable-warning=ExperimentalWarning --import "./$ranks/source-hooks.ts" "$ranks/ranks/$program" "$@"
}

nvidia-smi >"$logs/nvidia-smi.txt"
bash $bundle tandem doctor --backend cuda >"$logs/doctor.txt" 2>&1 # unpacks the bundle before ranks share it
export GPU_BUNDLE_UNPACKED=1
gpus=$(nvidia-smi -L | wc -l)
transports="ipc nccl staged"
mpi=$(ompi_info --parsable --all 2>/dev/null | grep 'mpi_built_with_cuda_support:value')
case $mpi in *true) transports="$transports gpu-aware" ;; *) echo "gpu-aware: not run, since this Open MPI does not take GPU memory" >>"$logs/summary.txt" ;; esac

for count in $(printf '%s\n' "$gpus" 2 | sort -rnu); do
  job 60 "chosen-$count" "$count" transport.ts cuda
  for transport in $transports; do
    job 90 "conformance-$transport-$count" "$count" conformance.ts cuda "$transport"
    job 180 "algorithms-$transport-$count" "$count" algorithms.ts cuda "$transport"
    job 60 "time-limit-$transport-$count" "$count" time-limit.ts cuda "$transport"
  done
done
# A hundred groups beside each thousand programs.
for count in 2 3 4; do
  [ "$count" -le "$gpus" ] || continue
  for transport in $transports; do
    job 240 "random-$transport-$count" "$count" random-programs.ts cuda "$transport" 1000 "$count"
  done
done
# Memory that a late rank still maps comes back: two thirds of a GPU's, allocated over and over.
bytes=$(nvidia-smi --query-gpu=memory.free --format=csv,noheader,nounits | sort -n | head -1)
for transport in $transports; do
  FAKE_CUDA_MEMORY=$((bytes * 1048576)) job 120 "memory-$transport" 2 memory.ts "$transport" cuda
done
proof 300 failures bash $bundle tools/gpu-host/rank-failures.ts cuda "$gpus" "" "" 280
[ "$soak" -eq 0 ] || proof $((soak + 150)) soak bash $bundle tools/gpu-host/rank-soak.ts "$soak" cuda "$gpus"

keep
cat "$logs/summary.txt"
! grep -qE 'exit [1-9]' "$logs/summary.txt"
