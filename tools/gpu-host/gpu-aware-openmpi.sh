#!/bin/bash
# Builds an Open MPI that takes messages from and into GPU memory, for hosts whose own does not (`ompi_info --parsable --all | grep mpi_built_with_cuda_support`):
#   bash tools/gpu-host/gpu-aware-openmpi.sh OUTPUT.tar.xz [SOURCE.tar.xz]
# from the source that Debian publishes (6.9 MB; SOURCE where there is no network), without what one host with NVIDIA GPUs does not need. It wants a C
# compiler, make and cuda.h (CUDA, default /usr/local/cuda), and takes about ten minutes on two cores. There:
#   tar -xJf OUTPUT.tar.xz -C /; export PATH=/opt/tandem-openmpi/bin:$PATH LD_LIBRARY_PATH=/opt/tandem-openmpi/lib
#   mpirun --bind-to none -n 4 tandem jacobi --rank-transport gpu-aware
# Unpacked elsewhere, it wants OPAL_PREFIX=/elsewhere/opt/tandem-openmpi too; as root, OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1.
set -euo pipefail
output=$(realpath -m "${1:?usage: gpu-aware-openmpi.sh OUTPUT.tar.xz [SOURCE.tar.xz]}")
source=${2:-}
version=4.1.4
checksum=ddaee7dbdb01eb4fab1fda5b5e03e8bbff026711806c095c1f39bb410f99f263
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "$source" ]; then
  source=$work/source.tar.xz
  curl -fsSL -o "$source" "http://deb.debian.org/debian/pool/main/o/openmpi/openmpi_$version.orig.tar.xz"
fi
echo "$checksum  $source" | sha256sum --check --quiet
tar -xJf "$source" -C "$work"
cd "$work/openmpi-$version"
left_out=io-ompio,fs,fcoll,fbtl,sharedfp,common-ompio,common-monitoring,pml-monitoring,coll-monitoring,osc-monitoring,vprotocol,topo-treematch
./configure --prefix=/opt/tandem-openmpi --with-cuda="${CUDA:-/usr/local/cuda}" --disable-static --disable-oshmem --disable-man-pages \
  --disable-mpi-cxx --enable-mpi-fortran=no --disable-io-romio --enable-mca-no-build=$left_out --with-hwloc=internal \
  --with-libevent=internal --with-pmix=internal --without-{verbs,ucx,psm2,ofi,slurm,lsf,tm}
make -j"$(nproc)"
make install-strip DESTDIR="$work/installed"
tar -C "$work/installed" -cf - opt | xz -9 >"$output"
ls -l "$output"
