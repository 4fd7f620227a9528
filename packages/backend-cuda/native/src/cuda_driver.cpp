#include "cuda_driver.h"

#include <atomic>
#include <mutex>

#include "dynamic_library.h"

namespace tandem::cuda {

namespace {

using GetProcAddress = Result (*)(const char *symbol, void **function, int version, std::uint64_t flags, int *status);

std::string versionName(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::mutex faultMutex;
std::atomic<bool> faulted{false};
/// Never destroyed: threads of groups may call the driver until the last moment of the process.
auto &faultReason = *new std::string();

std::unique_ptr<Driver> load(const std::vector<std::string> &candidates) {
  DynamicLibrary library(candidates);
  if (!library.isOpen()) {
    throw NativeError("no-driver", "The NVIDIA driver library cannot be loaded (" + library.failures() + ").");
  }
  auto driver = std::make_unique<Driver>();
  auto driverGetVersion = reinterpret_cast<Result (*)(int *)>(library.find("cuDriverGetVersion"));
  if (driverGetVersion != nullptr) driverGetVersion(&driver->version);
  auto getProcAddress = reinterpret_cast<GetProcAddress>(library.find("cuGetProcAddress_v2"));
  if (getProcAddress == nullptr || driver->version < oldestDriverVersion) {
    throw NativeError("no-driver", "The NVIDIA driver supports CUDA " + versionName(driver->version) +
                                       ", but this package needs CUDA " + versionName(oldestDriverVersion) +
                                       " (driver 525) or newer (" + library.path() + ").");
  }
  for (auto *entry : driver->entries) {
    int status = 0;
    if (getProcAddress(entry->name, &entry->address, entry->version, 0, &status) != success || entry->address == nullptr) {
      throw NativeError("no-driver", "The NVIDIA driver library " + library.path() + " has no " + entry->name + " of CUDA " +
                                         versionName(entry->version) + ".");
    }
  }
  library.keep();
  return driver;
}

} // namespace

const Driver &loadDriver(const std::vector<std::string> &candidates) {
  const auto &driver = loadOnce(candidates, load);
  const Result result = driver.init(0);
  if (result == errorNoDevice) throw NativeError("no-device", "The NVIDIA driver found no CUDA device.");
  try {
    check(driver, result, driver.init);
  } catch (NativeError &error) {
    error.code = "no-driver";
    throw;
  }
  return driver;
}

void check(const Driver &driver, Result result, const ImportEntry &function) {
  if (result == success) return;
  const char *name = nullptr;
  const char *text = nullptr;
  driver.getErrorName(result, &name);
  driver.getErrorString(result, &text);
  throw NativeError("cuda",
                    std::string(function.name) + " returned " + (name != nullptr ? name : std::to_string(result)) +
                        (text != nullptr ? std::string(": ") + text : std::string()) + ".",
                    result);
}

bool contextsLost() { return faulted.load(); }

std::string contextsLostReason() {
  std::lock_guard lock(faultMutex);
  return faultReason;
}

bool noteFault(Result result, const std::string &reason) {
  switch (result) {
  case 214: // ECC error that could not be corrected
  case 220: // NVLink error that could not be corrected
  case 226: // contained error
  case 700: // illegal address
  case 702: // launch timeout
  case 709: // context is destroyed
  case 710: // device assert
  case 714: // hardware stack error
  case 715: // illegal instruction
  case 716: // misaligned address
  case 717: // invalid address space
  case 718: // invalid program counter
  case 719: // launch failed
  case 721: // tensor memory leak
    break;
  default:
    return false;
  }
  std::lock_guard lock(faultMutex);
  if (!faulted.exchange(true)) faultReason = reason;
  return true;
}

} // namespace tandem::cuda
