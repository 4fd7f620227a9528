#pragma once
#include <optional>
#include <string>
#include <vector>

#include "js_types.h"

namespace tandem::nvml {

struct Process {
  unsigned pid = 0;
  std::optional<double> memoryByteLength;
  std::optional<std::string> name;
  NAMED_MEMBERS(pid, memoryByteLength, name)
};

/// A reading that the device does not report has no value.
struct Reading {
  std::optional<double> computeUtilization, memoryUtilization;
  std::optional<double> memoryTotalByteLength, memoryFreeByteLength, memoryUsedByteLength;
  std::optional<double> powerWatts, powerLimitWatts, temperatureCelsius, fanPercent;
  std::optional<std::vector<Process>> processes;
  NAMED_MEMBERS(computeUtilization, memoryUtilization, memoryTotalByteLength, memoryFreeByteLength,
                memoryUsedByteLength, powerWatts, powerLimitWatts, temperatureCelsius, fanPercent,
                processes)
};

struct DeviceIdentity {
  int index = 0;
  std::string uuid;
  std::string pciBusId;
  NAMED_MEMBERS(index, uuid, pciBusId)
};

struct DeviceList {
  /// Empty if NVML does not report it.
  std::string driverVersion;
  std::vector<DeviceIdentity> devices;
  NAMED_MEMBERS(driverVersion, devices)
};

/// PCI bus IDs of the far ends of a device's active NVLinks; `toSwitch` counts links whose far end is an
/// NVSwitch.
struct Links {
  std::vector<std::string> remotePciBusIds;
  int toSwitch = 0;
  NAMED_MEMBERS(remotePciBusIds, toSwitch)
};

/// All functions throw NativeError `unsupported` if NVML does not load. Callable from any thread; calls may
/// block for milliseconds.
DeviceList devices(const std::vector<std::string> &libraries);
/// `uuid` in NVML's format: GPU-… or MIG-….
Reading read(const std::vector<std::string> &libraries, const std::string &uuid);
Links links(const std::vector<std::string> &libraries, const std::string &uuid);
/// NVML's level of the nearest common ancestor on the PCI tree: 0 same board … 50 across CPUs; −1 when
/// unknown.
int commonAncestor(const std::vector<std::string> &libraries, const std::string &first, const std::string &second);

} // namespace tandem::nvml
