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
  template <typename Self, typename Visit> static void eachMember(Self &self, Visit visit) {
    visit("ordinal", self.ordinal);
    visit("name", self.name);
    visit("pciBusId", self.pciBusId);
    visit("uuid", self.uuid);
    visit("totalByteLength", self.totalByteLength);
    visit("maxThreadsPerBlock", self.maxThreadsPerBlock);
    visit("maxBlockDimX", self.maxBlockDimX);
    visit("maxBlockDimY", self.maxBlockDimY);
    visit("maxBlockDimZ", self.maxBlockDimZ);
    visit("maxSharedMemoryPerBlockOptin", self.maxSharedMemoryPerBlockOptin);
    visit("warpSize", self.warpSize);
    visit("computeCapabilityMajor", self.computeCapabilityMajor);
    visit("computeCapabilityMinor", self.computeCapabilityMinor);
  }
};

struct Probe {
  /// As cuDriverGetVersion reports it.
  int driverVersion = 0;
  std::vector<DeviceProperties> devices;
  /// Reader × owner, row-major.
  std::vector<bool> peers;
  template <typename Self, typename Visit> static void eachMember(Self &self, Visit visit) {
    visit("driverVersion", self.driverVersion);
    visit("devices", self.devices);
    visit("peers", self.peers);
  }
};

/// Queries the driver about every device, without creating a context. Throws as `loadDriver` does.
Probe probe(const std::vector<std::string> &libraries);

} // namespace tandem::cuda
