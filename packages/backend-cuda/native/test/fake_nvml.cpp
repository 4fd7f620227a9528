// An NVML with one device more than CUDA shows, in the opposite order, as with CUDA_VISIBLE_DEVICES.
#include <cstdint>
#include <cstdio>
#include <string>

#include "fake_injection.h"
#include "fake_settings.h"

namespace {

int nvmlCount() { return deviceCount() + 1; }
/// CUDA ordinal of an NVML index; -1 for the device that CUDA does not show.
int ordinalOf(int index) { return deviceCount() - 1 - index; }
std::string uuidOf(int ordinal) {
  if (ordinal < 0) return "GPU-ffffffff-ffff-ffff-ffff-ffffffffffff";
  char pair[16];
  std::snprintf(pair, sizeof pair, "%02x", 0xa0 + ordinal);
  std::string text = "GPU-";
  for (int index = 0; index < 16; ++index) {
    if (index == 4 || index == 6 || index == 8 || index == 10) text += '-';
    text += pair;
  }
  return text;
}
struct NvmlPci {
  char legacy[16];
  unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
  char busId[32];
};
int indexOf(void *device) { return static_cast<int>(reinterpret_cast<std::intptr_t>(device)) - 1; }

} // namespace

EXPORT int nvmlInit_v2() {
  INJECTED("nvmlInit_v2");
  return setting("FAKE_NVML_ERROR", 0) != 0 ? 9 : 0;
}
EXPORT const char *nvmlErrorString(int result) { return result == 9 ? "Driver Not Loaded" : "Unknown Error"; }
EXPORT int nvmlSystemGetDriverVersion(char *text, unsigned length) {
  INJECTED("nvmlSystemGetDriverVersion");
  std::snprintf(text, length, "580.00.fake");
  return 0;
}
EXPORT int nvmlDeviceGetCount_v2(unsigned *count) {
  INJECTED("nvmlDeviceGetCount_v2");
  *count = static_cast<unsigned>(nvmlCount());
  return 0;
}
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
  INJECTED("nvmlDeviceGetHandleByIndex_v2");
  *device = reinterpret_cast<void *>(static_cast<std::intptr_t>(index) + 1);
  return 0;
}
EXPORT int nvmlDeviceGetHandleByUUID(const char *uuid, void **device) {
  INJECTED("nvmlDeviceGetHandleByUUID");
  for (int index = 0; index < nvmlCount(); ++index) {
    if (uuidOf(ordinalOf(index)) == uuid) return nvmlDeviceGetHandleByIndex_v2(static_cast<unsigned>(index), device);
  }
  return 6;
}
EXPORT int nvmlDeviceGetUUID(void *device, char *uuid, unsigned length) {
  INJECTED("nvmlDeviceGetUUID");
  std::snprintf(uuid, length, "%s", uuidOf(ordinalOf(indexOf(device))).c_str());
  return 0;
}
EXPORT int nvmlDeviceGetPciInfo_v3(void *device, NvmlPci *pci) {
  INJECTED("nvmlDeviceGetPciInfo_v3");
  std::snprintf(pci->busId, sizeof pci->busId, "00000000:%02X:00.0", 0x1b + ordinalOf(indexOf(device)));
  return 0;
}
EXPORT int nvmlDeviceGetUtilizationRates(void *device, unsigned *rates) {
  INJECTED("nvmlDeviceGetUtilizationRates");
  rates[0] = static_cast<unsigned>(10 * (1 + ordinalOf(indexOf(device))));
  rates[1] = 5;
  return 0;
}
EXPORT int nvmlDeviceGetPowerUsage(void *, unsigned *milliwatts) {
  INJECTED("nvmlDeviceGetPowerUsage");
  *milliwatts = 123456;
  return 0;
}
EXPORT int nvmlDeviceGetTemperature(void *, int, unsigned *celsius) {
  INJECTED("nvmlDeviceGetTemperature");
  *celsius = 41;
  return 0;
}
EXPORT int nvmlDeviceGetFanSpeed(void *, unsigned *) {
  INJECTED("nvmlDeviceGetFanSpeed");
  return 3;
}
EXPORT int nvmlDeviceGetEnforcedPowerLimit(void *, unsigned *milliwatts) {
  INJECTED("nvmlDeviceGetEnforcedPowerLimit");
  *milliwatts = 700000;
  return 0;
}
EXPORT int nvmlSystemGetProcessName(unsigned pid, char *name, unsigned length) {
  INJECTED("nvmlSystemGetProcessName");
  if (pid % 2 == 1) return 6;
  std::snprintf(name, length, "process-%u", pid);
  return 0;
}
struct NvmlMemory {
  unsigned long long total, free, used;
};
EXPORT int nvmlDeviceGetMemoryInfo(void *, NvmlMemory *memory) {
  INJECTED("nvmlDeviceGetMemoryInfo");
  *memory = {1000, 600, 400};
  return 0;
}
struct NvmlProcess {
  unsigned pid;
  unsigned long long bytes;
  unsigned gpuInstance, computeInstance;
};
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(void *, unsigned *count, NvmlProcess *processes) {
  INJECTED("nvmlDeviceGetComputeRunningProcesses_v3");
  // More than the first guess of 16 holds.
  if (*count < 20) {
    *count = 20;
    return 7;
  }
  *count = 20;
  for (unsigned index = 0; index < 20; ++index) processes[index] = {1000 + index, index == 0 ? ~0ull : 4096ull * index, 0, 0};
  return 0;
}
EXPORT int nvmlDeviceGetNvLinkState(void *device, unsigned link, int *active) {
  INJECTED("nvmlDeviceGetNvLinkState");
  // CUDA devices 0 to 2 have links, others have none.
  *active = link < 3 && static_cast<unsigned>(ordinalOf(indexOf(device))) < 3 ? 1 : 0;
  return 0;
}
EXPORT int nvmlDeviceGetNvLinkRemoteDeviceType(void *, unsigned link, int *type) {
  INJECTED("nvmlDeviceGetNvLinkRemoteDeviceType");
  *type = link == 2 ? 2 : 0;
  return 0;
}
EXPORT int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned, NvmlPci *pci) {
  INJECTED("nvmlDeviceGetNvLinkRemotePciInfo_v2");
  // Two direct links between CUDA devices 0 and 1.
  const int ordinal = ordinalOf(indexOf(device));
  std::snprintf(pci->busId, sizeof pci->busId, "00000000:%02X:00.0", 0x1b + (ordinal == 0 ? 1 : 0));
  return 0;
}
EXPORT int nvmlDeviceGetTopologyCommonAncestor(void *, void *, int *level) {
  INJECTED("nvmlDeviceGetTopologyCommonAncestor");
  *level = 50;
  return 0;
}
