#include "cuda_probe.h"

#include "cuda_driver.h"

namespace tandem::cuda {

namespace {

std::string uuidText(const Uuid &uuid) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (int index = 0; index < 16; ++index) {
    if (index == 4 || index == 6 || index == 8 || index == 10) text += '-';
    text += digits[uuid.bytes[index] >> 4];
    text += digits[uuid.bytes[index] & 15];
  }
  return text;
}

DeviceProperties describe(const Driver &driver, int ordinal, Device device) {
  DeviceProperties found;
  found.ordinal = ordinal;
  char text[256] = {};
  call(driver, driver.deviceGetName, text, int{sizeof text}, device);
  found.name = text;
  call(driver, driver.deviceGetPciBusId, text, int{sizeof text}, device);
  found.pciBusId = text;
  Uuid uuid{};
  call(driver, driver.deviceGetUuid, &uuid, device);
  found.uuid = uuidText(uuid);
  call(driver, driver.deviceTotalMem, &found.totalByteLength, device);
  const std::pair<int *, DeviceAttribute> attributes[] = {
      {&found.maxThreadsPerBlock, maxThreadsPerBlock},
      {&found.maxBlockDimX, maxBlockDimX},
      {&found.maxBlockDimY, maxBlockDimY},
      {&found.maxBlockDimZ, maxBlockDimZ},
      {&found.maxSharedMemoryPerBlockOptin, maxSharedMemoryPerBlockOptin},
      {&found.warpSize, warpSize},
      {&found.computeCapabilityMajor, computeCapabilityMajor},
      {&found.computeCapabilityMinor, computeCapabilityMinor},
  };
  for (const auto &[value, attribute] : attributes) call(driver, driver.deviceGetAttribute, value, attribute, device);
  return found;
}

} // namespace

Probe probe(const std::vector<std::string> &libraries) {
  const auto &driver = loadDriver(libraries);
  Probe found;
  found.driverVersion = driver.version;
  int count = 0;
  call(driver, driver.deviceGetCount, &count);
  std::vector<Device> devices(count);
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    call(driver, driver.deviceGet, &devices[ordinal], ordinal);
    found.devices.push_back(describe(driver, ordinal, devices[ordinal]));
  }
  for (const auto reader : devices) {
    for (const auto owner : devices) {
      int can = reader == owner;
      if (can == 0) call(driver, driver.deviceCanAccessPeer, &can, reader, owner);
      found.peers.push_back(can != 0);
    }
  }
  return found;
}

} // namespace tandem::cuda
