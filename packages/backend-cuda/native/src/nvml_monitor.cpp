#include "nvml_monitor.h"

#include <map>
#include <memory>
#include <mutex>

#include "dynamic_library.h"
#include "native_error.h"

namespace tandem::nvml {

namespace {

using Result = int;
using Handle = struct nvmlDevice_st *;
constexpr Result success = 0;
constexpr Result errorNotSupported = 3;
constexpr Result errorInsufficientSize = 7;
constexpr unsigned maximumLinks = 18;
constexpr unsigned long long unknownByteLength = ~0ull;

struct Utilization {
  unsigned gpu, memory;
};
struct Memory {
  unsigned long long total, free, used;
};
struct PciInfo {
  char busIdLegacy[16];
  unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
  char busId[32];
};
struct ProcessInfo {
  unsigned pid;
  unsigned long long usedGpuMemory;
  unsigned gpuInstanceId, computeInstanceId;
};

// X(member, symbol, parameters). The first group must be present; the others are readings that older libraries may lack.
#define TANDEM_NVML_REQUIRED(X)                                                                                        \
  X(init, "nvmlInit_v2", ())                                                                                           \
  X(deviceGetCount, "nvmlDeviceGetCount_v2", (unsigned *count))                                                        \
  X(deviceGetHandleByIndex, "nvmlDeviceGetHandleByIndex_v2", (unsigned index, Handle *device))                         \
  X(deviceGetHandleByUuid, "nvmlDeviceGetHandleByUUID", (const char *uuid, Handle *device))                            \
  X(deviceGetName, "nvmlDeviceGetName", (Handle device, char *name, unsigned length))                                  \
  X(deviceGetUuid, "nvmlDeviceGetUUID", (Handle device, char *uuid, unsigned length))                                  \
  X(deviceGetPciInfo, "nvmlDeviceGetPciInfo_v3", (Handle device, PciInfo *pci))
#define TANDEM_NVML_OPTIONAL(X)                                                                                        \
  X(systemGetDriverVersion, "nvmlSystemGetDriverVersion", (char *version, unsigned length))                            \
  X(deviceGetUtilizationRates, "nvmlDeviceGetUtilizationRates", (Handle device, Utilization *rates))                   \
  X(deviceGetMemoryInfo, "nvmlDeviceGetMemoryInfo", (Handle device, Memory *memory))                                   \
  X(deviceGetPowerUsage, "nvmlDeviceGetPowerUsage", (Handle device, unsigned *milliwatts))                             \
  X(deviceGetPowerLimit, "nvmlDeviceGetEnforcedPowerLimit", (Handle device, unsigned *milliwatts))                     \
  X(deviceGetTemperature, "nvmlDeviceGetTemperature", (Handle device, int sensor, unsigned *celsius))                  \
  X(deviceGetFanSpeed, "nvmlDeviceGetFanSpeed", (Handle device, unsigned *percent))                                    \
  X(deviceGetComputeProcesses, "nvmlDeviceGetComputeRunningProcesses_v3",                                              \
    (Handle device, unsigned *count, ProcessInfo *processes))                                                          \
  X(systemGetProcessName, "nvmlSystemGetProcessName", (unsigned pid, char *name, unsigned length))                     \
  X(deviceGetNvLinkState, "nvmlDeviceGetNvLinkState", (Handle device, unsigned link, int *active))                     \
  X(deviceGetNvLinkRemotePci, "nvmlDeviceGetNvLinkRemotePciInfo_v2", (Handle device, unsigned link, PciInfo *pci))     \
  X(deviceGetNvLinkRemoteType, "nvmlDeviceGetNvLinkRemoteDeviceType", (Handle device, unsigned link, int *type))       \
  X(deviceGetCommonAncestor, "nvmlDeviceGetTopologyCommonAncestor", (Handle first, Handle second, int *level))

struct Library {
#define TANDEM_MEMBER(member, symbol, parameters) Result(*member) parameters = nullptr;
  TANDEM_NVML_REQUIRED(TANDEM_MEMBER)
  TANDEM_NVML_OPTIONAL(TANDEM_MEMBER)
#undef TANDEM_MEMBER
  const char *(*errorString)(Result) = nullptr;
};

void check(const Library &library, Result result, const char *call) {
  if (result == success) return;
  const auto text = library.errorString != nullptr ? std::string(library.errorString(result)) : std::to_string(result);
  throw NativeError(result == errorNotSupported ? "unsupported" : "driver", std::string(call) + " returns " + text + ".");
}

const Library &load(const std::vector<std::string> &candidates) {
  static std::mutex mutex;
  static auto *libraries = new std::map<std::string, std::unique_ptr<Library>>();
  std::string key;
  for (const auto &candidate : candidates) key += candidate + "\n";
  std::lock_guard lock(mutex);
  auto &known = (*libraries)[key];
  if (known) return *known;
  DynamicLibrary opened(candidates);
  if (!opened.isOpen()) throw NativeError("unsupported", "NVML does not load (" + opened.failures() + ").");
  auto library = std::make_unique<Library>();
#define TANDEM_RESOLVE(member, symbol, parameters)                                                                     \
  library->member = reinterpret_cast<decltype(library->member)>(opened.find(symbol));
#define TANDEM_RESOLVE_REQUIRED(member, symbol, parameters)                                                            \
  TANDEM_RESOLVE(member, symbol, parameters)                                                                           \
  if (library->member == nullptr) {                                                                                    \
    throw NativeError("unsupported", "NVML at " + opened.path() + " has no " + symbol + ".");                         \
  }
  TANDEM_NVML_REQUIRED(TANDEM_RESOLVE_REQUIRED)
  TANDEM_NVML_OPTIONAL(TANDEM_RESOLVE)
#undef TANDEM_RESOLVE_REQUIRED
#undef TANDEM_RESOLVE
  library->errorString = reinterpret_cast<decltype(library->errorString)>(opened.find("nvmlErrorString"));
  check(*library, library->init(), "nvmlInit");
  opened.keep();
  known = std::move(library);
  return *known;
}

Handle handleOf(const Library &library, const std::string &uuid) {
  Handle handle = nullptr;
  check(library, library.deviceGetHandleByUuid(uuid.c_str(), &handle), "nvmlDeviceGetHandleByUUID");
  return handle;
}

} // namespace

std::vector<DeviceIdentity> devices(const std::vector<std::string> &libraries) {
  const auto &library = load(libraries);
  unsigned count = 0;
  check(library, library.deviceGetCount(&count), "nvmlDeviceGetCount");
  std::vector<DeviceIdentity> found;
  for (unsigned index = 0; index < count; ++index) {
    Handle handle = nullptr;
    // A device that this user may not see is not an error of the others.
    if (library.deviceGetHandleByIndex(index, &handle) != success) continue;
    DeviceIdentity identity;
    identity.index = static_cast<int>(index);
    char text[96] = {};
    if (library.deviceGetUuid(handle, text, sizeof text) == success) identity.uuid = text;
    if (library.deviceGetName(handle, text, sizeof text) == success) identity.name = text;
    PciInfo pci{};
    if (library.deviceGetPciInfo(handle, &pci) == success) identity.pciBusId = pci.busId;
    found.push_back(identity);
  }
  return found;
}

std::string driverVersion(const std::vector<std::string> &libraries) {
  const auto &library = load(libraries);
  char text[96] = {};
  if (library.systemGetDriverVersion == nullptr || library.systemGetDriverVersion(text, sizeof text) != success) return "";
  return text;
}

Reading read(const std::vector<std::string> &libraries, const std::string &uuid) {
  const auto &library = load(libraries);
  const auto handle = handleOf(library, uuid);
  Reading reading;
  Utilization rates{};
  if (library.deviceGetUtilizationRates != nullptr && library.deviceGetUtilizationRates(handle, &rates) == success) {
    reading.computeUtilization = rates.gpu / 100.0;
    reading.memoryUtilization = rates.memory / 100.0;
  }
  Memory memory{};
  if (library.deviceGetMemoryInfo != nullptr && library.deviceGetMemoryInfo(handle, &memory) == success) {
    reading.memoryTotalByteLength = static_cast<double>(memory.total);
    reading.memoryFreeByteLength = static_cast<double>(memory.free);
    reading.memoryUsedByteLength = static_cast<double>(memory.used);
  }
  unsigned value = 0;
  if (library.deviceGetPowerUsage != nullptr && library.deviceGetPowerUsage(handle, &value) == success) {
    reading.powerWatts = value / 1000.0;
  }
  if (library.deviceGetPowerLimit != nullptr && library.deviceGetPowerLimit(handle, &value) == success) {
    reading.powerLimitWatts = value / 1000.0;
  }
  if (library.deviceGetTemperature != nullptr && library.deviceGetTemperature(handle, 0, &value) == success) {
    reading.temperatureCelsius = value;
  }
  if (library.deviceGetFanSpeed != nullptr && library.deviceGetFanSpeed(handle, &value) == success) {
    reading.fanPercent = value;
  }
  if (library.deviceGetComputeProcesses != nullptr) {
    std::vector<ProcessInfo> infos(16);
    auto result = errorInsufficientSize;
    unsigned count = 0;
    // Processes may start between two calls.
    for (int attempt = 0; attempt < 4 && result == errorInsufficientSize; ++attempt) {
      count = static_cast<unsigned>(infos.size());
      result = library.deviceGetComputeProcesses(handle, &count, infos.data());
      if (result == errorInsufficientSize) infos.resize(count + 16);
    }
    if (result == success) {
      reading.processes.emplace();
      for (unsigned index = 0; index < count; ++index) {
        Process process;
        process.pid = infos[index].pid;
        if (infos[index].usedGpuMemory != unknownByteLength) {
          process.memoryByteLength = static_cast<double>(infos[index].usedGpuMemory);
        }
        char name[256] = {};
        if (library.systemGetProcessName != nullptr &&
            library.systemGetProcessName(process.pid, name, sizeof name) == success) {
          process.name = name;
        }
        reading.processes->push_back(process);
      }
    }
  }
  return reading;
}

Links links(const std::vector<std::string> &libraries, const std::string &uuid) {
  const auto &library = load(libraries);
  const auto handle = handleOf(library, uuid);
  Links found;
  if (library.deviceGetNvLinkState == nullptr) return found;
  for (unsigned link = 0; link < maximumLinks; ++link) {
    int active = 0;
    if (library.deviceGetNvLinkState(handle, link, &active) != success || active == 0) continue;
    constexpr int remoteSwitch = 2;
    int type = 255;
    if (library.deviceGetNvLinkRemoteType != nullptr) library.deviceGetNvLinkRemoteType(handle, link, &type);
    if (type == remoteSwitch) {
      found.toSwitch += 1;
      continue;
    }
    PciInfo pci{};
    if (library.deviceGetNvLinkRemotePci != nullptr && library.deviceGetNvLinkRemotePci(handle, link, &pci) == success) {
      found.remotePciBusIds.emplace_back(pci.busId);
    }
  }
  return found;
}

int commonAncestor(const std::vector<std::string> &libraries, const std::string &first, const std::string &second) {
  const auto &library = load(libraries);
  int level = -1;
  if (library.deviceGetCommonAncestor == nullptr ||
      library.deviceGetCommonAncestor(handleOf(library, first), handleOf(library, second), &level) != success) {
    return -1;
  }
  return level;
}

} // namespace tandem::nvml
