#include "nvml_monitor.h"

#include "dynamic_library.h"
#include "native_error.h"

namespace tandem::nvml {

namespace {

using Result = int;
using Handle = struct nvmlDevice_st *;
constexpr Result success = 0;
constexpr Result errorNotSupported = 3;
constexpr Result errorInsufficientSize = 7;
constexpr Result errorFunctionNotFound = 13;
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

/// A function that older libraries lack: there it fails.
template <typename Signature> struct OptionalImport;
template <typename... Parameters> struct OptionalImport<Result(Parameters...)> : Import<Result(Parameters...)> {
  OptionalImport(ImportTable *table, const char *name) : Import<Result(Parameters...)>(table, name) {
    this->address = reinterpret_cast<void *>(+[](Parameters...) -> Result { return errorFunctionNotFound; });
  }
};

struct Library : ImportTable {
  Import<Result()> init{this, "nvmlInit_v2"};
  Import<Result(unsigned *count)> deviceGetCount{this, "nvmlDeviceGetCount_v2"};
  Import<Result(unsigned index, Handle *device)> deviceGetHandleByIndex{this, "nvmlDeviceGetHandleByIndex_v2"};
  Import<Result(const char *uuid, Handle *device)> deviceGetHandleByUuid{this, "nvmlDeviceGetHandleByUUID"};
  Import<Result(Handle device, char *uuid, unsigned length)> deviceGetUuid{this, "nvmlDeviceGetUUID"};
  Import<Result(Handle device, PciInfo *pci)> deviceGetPciInfo{this, "nvmlDeviceGetPciInfo_v3"};
  OptionalImport<Result(char *version, unsigned length)> systemGetDriverVersion{this, "nvmlSystemGetDriverVersion"};
  OptionalImport<Result(Handle device, Utilization *rates)>
      deviceGetUtilizationRates{this, "nvmlDeviceGetUtilizationRates"};
  OptionalImport<Result(Handle device, Memory *memory)> deviceGetMemoryInfo{this, "nvmlDeviceGetMemoryInfo"};
  OptionalImport<Result(Handle device, unsigned *milliwatts)> deviceGetPowerUsage{this, "nvmlDeviceGetPowerUsage"};
  OptionalImport<Result(Handle device, unsigned *milliwatts)> deviceGetPowerLimit{this, "nvmlDeviceGetEnforcedPowerLimit"};
  OptionalImport<Result(Handle device, int sensor, unsigned *celsius)>
      deviceGetTemperature{this, "nvmlDeviceGetTemperature"};
  OptionalImport<Result(Handle device, unsigned *percent)> deviceGetFanSpeed{this, "nvmlDeviceGetFanSpeed"};
  OptionalImport<Result(Handle device, unsigned *count, ProcessInfo *processes)>
      deviceGetComputeProcesses{this, "nvmlDeviceGetComputeRunningProcesses_v3"};
  OptionalImport<Result(unsigned pid, char *name, unsigned length)> systemGetProcessName{this, "nvmlSystemGetProcessName"};
  OptionalImport<Result(Handle device, unsigned link, int *active)> deviceGetNvLinkState{this, "nvmlDeviceGetNvLinkState"};
  OptionalImport<Result(Handle device, unsigned link, PciInfo *pci)>
      deviceGetNvLinkRemotePci{this, "nvmlDeviceGetNvLinkRemotePciInfo_v2"};
  OptionalImport<Result(Handle device, unsigned link, int *type)>
      deviceGetNvLinkRemoteType{this, "nvmlDeviceGetNvLinkRemoteDeviceType"};
  OptionalImport<Result(Handle first, Handle second, int *level)>
      deviceGetCommonAncestor{this, "nvmlDeviceGetTopologyCommonAncestor"};
  Import<const char *(Result result)> errorString{this, "nvmlErrorString"};

  /// Calls; throws NativeError for any result but success.
  template <typename... Parameters, typename... Arguments>
  void call(const Import<Result(Parameters...)> &function, Arguments... arguments) const {
    const auto result = function(arguments...);
    if (result == success) return;
    throw NativeError(result == errorNotSupported ? "unsupported" : "driver",
                      std::string(function.name) + " returned " + errorString(result) + ".");
  }
};

std::unique_ptr<Library> openLibrary(const std::vector<std::string> &candidates) {
  auto library = std::make_unique<Library>();
  DynamicLibrary opened(candidates);
  resolve(*library, opened, "NVML");
  library->call(library->init);
  opened.keep();
  return library;
}

const Library &load(const std::vector<std::string> &candidates) { return loadOnce(candidates, openLibrary); }

Handle handleOf(const Library &library, const std::string &uuid) {
  Handle handle = nullptr;
  library.call(library.deviceGetHandleByUuid, uuid.c_str(), &handle);
  return handle;
}

std::optional<std::vector<Process>> processesOn(const Library &library, Handle device) {
  std::vector<ProcessInfo> infos(16);
  unsigned count = 0;
  auto result = errorInsufficientSize;
  // More processes may start between two calls.
  for (int attempt = 0; attempt < 4 && result == errorInsufficientSize; ++attempt) {
    count = static_cast<unsigned>(infos.size());
    result = library.deviceGetComputeProcesses(device, &count, infos.data());
    if (result == errorInsufficientSize) infos.resize(count + 16);
  }
  if (result != success) return std::nullopt;
  infos.resize(count);
  std::vector<Process> processes;
  for (const auto &info : infos) {
    auto &process = processes.emplace_back();
    process.pid = info.pid;
    if (info.usedGpuMemory != unknownByteLength) process.memoryByteLength = static_cast<double>(info.usedGpuMemory);
    char name[256] = {};
    if (library.systemGetProcessName(info.pid, name, sizeof name) == success) process.name = name;
  }
  return processes;
}

} // namespace

DeviceList devices(const std::vector<std::string> &libraries) {
  const auto &library = load(libraries);
  unsigned count = 0;
  library.call(library.deviceGetCount, &count);
  DeviceList found;
  char text[96] = {};
  for (unsigned index = 0; index < count; ++index) {
    Handle handle = nullptr;
    // A device that is not visible to this user is not an error for the others.
    if (library.deviceGetHandleByIndex(index, &handle) != success) continue;
    auto &identity = found.devices.emplace_back();
    identity.index = static_cast<int>(index);
    if (library.deviceGetUuid(handle, text, sizeof text) == success) identity.uuid = text;
    PciInfo pci{};
    if (library.deviceGetPciInfo(handle, &pci) == success) identity.pciBusId = pci.busId;
  }
  if (library.systemGetDriverVersion(text, sizeof text) == success) found.driverVersion = text;
  return found;
}

Reading read(const std::vector<std::string> &libraries, const std::string &uuid) {
  const auto &library = load(libraries);
  const auto handle = handleOf(library, uuid);
  Reading reading;
  Utilization rates{};
  if (library.deviceGetUtilizationRates(handle, &rates) == success) {
    reading.computeUtilization = rates.gpu / 100.0;
    reading.memoryUtilization = rates.memory / 100.0;
  }
  Memory memory{};
  if (library.deviceGetMemoryInfo(handle, &memory) == success) {
    reading.memoryTotalByteLength = static_cast<double>(memory.total);
    reading.memoryFreeByteLength = static_cast<double>(memory.free);
    reading.memoryUsedByteLength = static_cast<double>(memory.used);
  }
  unsigned value = 0;
  if (library.deviceGetPowerUsage(handle, &value) == success) reading.powerWatts = value / 1000.0;
  if (library.deviceGetPowerLimit(handle, &value) == success) reading.powerLimitWatts = value / 1000.0;
  if (library.deviceGetTemperature(handle, 0, &value) == success) reading.temperatureCelsius = value;
  if (library.deviceGetFanSpeed(handle, &value) == success) reading.fanPercent = value;
  reading.processes = processesOn(library, handle);
  return reading;
}

Links links(const std::vector<std::string> &libraries, const std::string &uuid) {
  const auto &library = load(libraries);
  const auto handle = handleOf(library, uuid);
  Links found;
  for (unsigned link = 0; link < maximumLinks; ++link) {
    int active = 0;
    if (library.deviceGetNvLinkState(handle, link, &active) != success || active == 0) continue;
    constexpr int remoteSwitch = 2;
    int type = 255;
    library.deviceGetNvLinkRemoteType(handle, link, &type);
    PciInfo pci{};
    if (type == remoteSwitch) found.toSwitch += 1;
    else if (library.deviceGetNvLinkRemotePci(handle, link, &pci) == success) found.remotePciBusIds.emplace_back(pci.busId);
  }
  return found;
}

int commonAncestor(const std::vector<std::string> &libraries, const std::string &first, const std::string &second) {
  const auto &library = load(libraries);
  int level = -1;
  const auto result = library.deviceGetCommonAncestor(handleOf(library, first), handleOf(library, second), &level);
  return result == success ? level : -1;
}

} // namespace tandem::nvml
