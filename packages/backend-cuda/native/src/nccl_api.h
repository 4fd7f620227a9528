// The part of NCCL that Tandem calls: our own minimal declarations, as NCCL 2.18 and newer have them.
// native/test/nccl_abi_check.cpp compares them with nccl.h where one is present.
#pragma once
#include <cstddef>
#include <limits>

#include "cuda_api.h"
#include "imports.h"

namespace tandem::nccl {

using Result = int;
using Comm = struct ncclComm *;

constexpr Result success = 0;
constexpr Result inProgress = 7;
constexpr int typeByte = 0;

struct UniqueId {
  char internal[128];
};

constexpr unsigned configMagic = 0xcafebeef;
constexpr unsigned configVersion = 22900;
constexpr int undefined = std::numeric_limits<int>::min();
/// As in NCCL 2.29. An older library reads the fields that it knows, a newer one those of the given version.
struct Config {
  std::size_t size = sizeof(Config);
  unsigned magic = configMagic;
  unsigned version = configVersion;
  int blocking = undefined;
  int cgaClusterSize = undefined, minCTAs = undefined, maxCTAs = undefined;
  const char *netName = nullptr;
  int splitShare = undefined, trafficClass = undefined;
  const char *commName = nullptr;
  int collnetEnable = undefined, ctaPolicy = undefined, shrinkShare = undefined, nvlsCTAs = undefined;
  int nChannelsPerNetPeer = undefined, nvlinkCentricSched = undefined;
  /// 1: graphs run concurrently neither with each other nor with operations outside graphs. Otherwise each
  /// group would wait for an event and record one.
  int graphUsageMode = undefined;
  int numRmaCtx = undefined;
};

struct Library : ImportTable {
  Import<Result(int *version)> getVersion{this, "ncclGetVersion"};
  Import<Result(UniqueId *id)> getUniqueId{this, "ncclGetUniqueId"};
  Import<Result(Comm *comm, int count, UniqueId id, int rank, Config *config)> commInitRankConfig{this, "ncclCommInitRankConfig"};
  Import<Result(Comm comm, Result *state)> commGetAsyncError{this, "ncclCommGetAsyncError"};
  Import<Result(Comm comm)> commAbort{this, "ncclCommAbort"};
  Import<Result()> groupStart{this, "ncclGroupStart"};
  Import<Result()> groupEnd{this, "ncclGroupEnd"};
  Import<Result(const void *source, std::size_t count, int type, int peer, Comm comm, cuda::Stream stream)> send{this, "ncclSend"};
  Import<Result(void *target, std::size_t count, int type, int peer, Comm comm, cuda::Stream stream)> recv{this, "ncclRecv"};
  Import<const char *(Result result)> getErrorString{this, "ncclGetErrorString"};
  Import<const char *(Comm comm)> getLastError{this, "ncclGetLastError"};
  /// 22803 for NCCL 2.28.3.
  int version = 0;
};

/// The oldest library whose communicators do not block, and whose operations can be repeated by graphs,
/// without defects known to matter here.
constexpr int oldestVersion = 21800;

} // namespace tandem::nccl
