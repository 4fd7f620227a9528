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
  static constexpr auto members = namedMembers(
      "ordinal", &DeviceProperties::ordinal, "name", &DeviceProperties::name, "pciBusId", &DeviceProperties::pciBusId,
      "uuid", &DeviceProperties::uuid, "totalByteLength", &DeviceProperties::totalByteLength, "maxThreadsPerBlock",
      &DeviceProperties::maxThreadsPerBlock, "maxBlockDimX", &DeviceProperties::maxBlockDimX, "maxBlockDimY",
      &DeviceProperties::maxBlockDimY, "maxBlockDimZ", &DeviceProperties::maxBlockDimZ, "maxSharedMemoryPerBlockOptin",
      &DeviceProperties::maxSharedMemoryPerBlockOptin, "warpSize", &DeviceProperties::warpSize, "computeCapabilityMajor",
      &DeviceProperties::computeCapabilityMajor, "computeCapabilityMinor", &DeviceProperties::computeCapabilityMinor);
};

struct Probe {
  /// As cuDriverGetVersion reports it.
  int driverVersion = 0;
  std::vector<DeviceProperties> devices;
  /// Reader × owner, row-major.
  std::vector<bool> peers;
  static constexpr auto members =
      namedMembers("driverVersion", &Probe::driverVersion, "devices", &Probe::devices, "peers", &Probe::peers);
};

/// Asks the driver about every device, without making a context. Throws as `loadDriver` does.
Probe probe(const std::vector<std::string> &libraries);

} // namespace tandem::cuda
