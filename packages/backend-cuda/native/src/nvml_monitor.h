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
  static constexpr auto members = namedMembers(
      "pid", &Process::pid, "memoryByteLength", &Process::memoryByteLength, "name", &Process::name);
};

/// A reading that the device does not report has no value.
struct Reading {
  std::optional<double> computeUtilization, memoryUtilization;
  std::optional<double> memoryTotalByteLength, memoryFreeByteLength, memoryUsedByteLength;
  std::optional<double> powerWatts, powerLimitWatts, temperatureCelsius, fanPercent;
  std::optional<std::vector<Process>> processes;
  static constexpr auto members = namedMembers(
      "computeUtilization", &Reading::computeUtilization, "memoryUtilization", &Reading::memoryUtilization,
      "memoryTotalByteLength", &Reading::memoryTotalByteLength, "memoryFreeByteLength", &Reading::memoryFreeByteLength,
      "memoryUsedByteLength", &Reading::memoryUsedByteLength, "powerWatts", &Reading::powerWatts,
      "powerLimitWatts", &Reading::powerLimitWatts, "temperatureCelsius", &Reading::temperatureCelsius,
      "fanPercent", &Reading::fanPercent, "processes", &Reading::processes);
};

struct DeviceIdentity {
  int index = 0;
  std::string uuid;
  std::string pciBusId;
  static constexpr auto members = namedMembers(
      "index", &DeviceIdentity::index, "uuid", &DeviceIdentity::uuid, "pciBusId", &DeviceIdentity::pciBusId);
};

struct DeviceList {
  /// Empty where NVML does not say.
  std::string driverVersion;
  std::vector<DeviceIdentity> devices;
  static constexpr auto members = namedMembers("driverVersion", &DeviceList::driverVersion, "devices", &DeviceList::devices);
};

/// PCI bus ids of what each active NVLink of a device leads to; `toSwitch` counts links whose far end is an NVSwitch.
struct Links {
  std::vector<std::string> remotePciBusIds;
  int toSwitch = 0;
  static constexpr auto members = namedMembers("remotePciBusIds", &Links::remotePciBusIds, "toSwitch", &Links::toSwitch);
};

/// All functions throw NativeError `unsupported` when NVML does not load; any thread, calls may block for milliseconds.
DeviceList devices(const std::vector<std::string> &libraries);
/// `uuid` as NVML writes it: GPU-… or MIG-….
Reading read(const std::vector<std::string> &libraries, const std::string &uuid);
Links links(const std::vector<std::string> &libraries, const std::string &uuid);
/// NVML's level of the nearest common ancestor on the PCI tree: 0 same board … 50 across CPUs; −1 when unknown.
int commonAncestor(const std::vector<std::string> &libraries, const std::string &first, const std::string &second);

} // namespace tandem::nvml
