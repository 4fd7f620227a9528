#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tandem::nvml {

struct Process {
  unsigned pid = 0;
  std::optional<double> memoryByteLength;
  std::string name;
};

struct Reading {
  std::optional<double> computeUtilization, memoryUtilization;
  std::optional<double> memoryTotalByteLength, memoryFreeByteLength, memoryUsedByteLength;
  std::optional<double> powerWatts, powerLimitWatts, temperatureCelsius, fanPercent;
  std::optional<std::vector<Process>> processes;
};

struct DeviceIdentity {
  int index = 0;
  std::string uuid;
  std::string pciBusId;
  std::string name;
};

/// PCI bus ids of what each active NVLink of a device leads to; `toSwitch` counts links whose far end is an NVSwitch.
struct Links {
  std::vector<std::string> remotePciBusIds;
  int toSwitch = 0;
};

/// All functions throw NativeError `unsupported` when NVML does not load; any thread, calls may block for milliseconds.
std::vector<DeviceIdentity> devices(const std::vector<std::string> &libraries);
std::string driverVersion(const std::vector<std::string> &libraries);
/// `uuid` as NVML writes it: GPU-… or MIG-….
Reading read(const std::vector<std::string> &libraries, const std::string &uuid);
Links links(const std::vector<std::string> &libraries, const std::string &uuid);
/// NVML's level of the nearest common ancestor on the PCI tree: 0 same board … 50 across CPUs; −1 when unknown.
int commonAncestor(const std::vector<std::string> &libraries, const std::string &first, const std::string &second);

} // namespace tandem::nvml
