#pragma once
#include <cstddef>
#include <cstdint>

/// How native code of one package hands device memory of another to a library that takes its addresses, such
/// as an MPI. `NativeAccess.address` gives it as an external value. Plain C, because the packages are built
/// apart.
extern "C" {

struct TandemDeviceMemory {
  /// tandemDeviceMemoryVersion of the package that made it.
  std::uint32_t version;
  void *self;
  /// In the device's address space: the host may not follow it.
  void *data;
  std::size_t byteLength;
  /// Makes the device current for the calling thread, as libraries that access `data` require. Returns false
  /// if the device is lost.
  bool (*use)(void *self);
};
}

constexpr std::uint32_t tandemDeviceMemoryVersion = 1;
