#pragma once
#include <string>
#include <vector>

#include "js_types.h"

namespace tandem::cuda {

struct DeviceProperties {
  int ordinal = 0;
  std::string name;
  std::string pciBusId;
  std::string uuid;
  std::size_t totalByteLength = 0;
  int maxThreadsPerBlock = 0;
  int maxBlockDimX = 0;
  int maxBlockDimY = 0;
  int maxBlockDimZ = 0;
  int maxSharedMemoryPerBlockOptin = 0;
  int warpSize = 0;
  int computeCapabilityMajor = 0;
  int computeCapabilityMinor = 0;
  NAMED_MEMBERS(ordinal, name, pciBusId, uuid, totalByteLength, maxThreadsPerBlock, maxBlockDimX,
                maxBlockDimY, maxBlockDimZ, maxSharedMemoryPerBlockOptin, warpSize, computeCapabilityMajor,
                computeCapabilityMinor)
};

struct Probe {
  /// As cuDriverGetVersion reports it.
  int driverVersion = 0;
  std::vector<DeviceProperties> devices;
  /// Reader × owner, row-major.
  std::vector<bool> peers;
  NAMED_MEMBERS(driverVersion, devices, peers)
};

/// Queries the driver about every device, without creating a context. Throws as `loadDriver` does.
Probe probe(const std::vector<std::string> &libraries);

} // namespace tandem::cuda
