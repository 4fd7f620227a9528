// Device memory that other processes map: anonymous files, which a process opens through the other's descriptors in /proc. Included once, by
// fake_cuda.cpp.
#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake_machine.h"

namespace {

bool ipcIs(const char *wanted) {
  const char *text = getenv("FAKE_CUDA_IPC");
  return text != nullptr && std::strcmp(text, wanted) == 0;
}

/// What an IpcMemHandle holds.
struct FakeHandle {
  long process;
  int descriptor;
  std::size_t byteLength;
};
struct Mapping {
  void *base;
  std::size_t byteLength;
  /// -1 for another process's memory.
  int descriptor;
};
/// By the first address that the caller knows.
std::map<std::uintptr_t, Mapping> mappings;
/// Small allocations of the driver share a block, which a handle names: ours begin behind the start of theirs.
constexpr std::size_t placeInBlock = 512;

Result fMemAlloc(DevicePtr *address, std::size_t bytes) {
  if (sticky.load() != 0) return sticky.load();
  std::lock_guard lock(stateMutex);
  const int device = currentContext->device;
  if (usedBytes[device] + bytes > deviceMemory()) return errorOutOfMemory;
  const auto byteLength = placeInBlock + bytes;
  const int descriptor = memfd_create("fake device memory", MFD_CLOEXEC);
  if (descriptor < 0 || ftruncate(descriptor, static_cast<off_t>(byteLength)) != 0) return errorOutOfMemory;
  auto *base = static_cast<char *>(mmap(nullptr, byteLength, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0));
  if (base == MAP_FAILED) return errorOutOfMemory;
  usedBytes[device] += bytes;
  if (bytes <= std::size_t{64} << 20) std::memset(base + placeInBlock, 0xcd, bytes);
  *address = reinterpret_cast<DevicePtr>(base + placeInBlock);
  mappings[*address] = {base, byteLength, descriptor};
  blocks[*address] = {bytes, device, nullptr, peersAllowed()};
  return 0;
}
Result fMemFree(DevicePtr address) {
  std::lock_guard lock(stateMutex);
  const auto found = mappings.find(address);
  if (found == mappings.end() || found->second.descriptor < 0) return errorInvalidValue;
  const auto &block = blocks.at(address);
  usedBytes[block.device] -= block.byteLength;
  blocks.erase(address);
  munmap(found->second.base, found->second.byteLength);
  close(found->second.descriptor);
  mappings.erase(found);
  return 0;
}
Result fMemGetAddressRange(DevicePtr *base, std::size_t *bytes, DevicePtr address) {
  std::lock_guard lock(stateMutex);
  const auto found = mappings.find(address);
  if (found == mappings.end()) return errorInvalidValue;
  *base = reinterpret_cast<DevicePtr>(found->second.base);
  *bytes = found->second.byteLength;
  return 0;
}
Result fIpcGetMemHandle(IpcMemHandle *handle, DevicePtr address) {
  std::lock_guard lock(stateMutex);
  const auto found = mappings.find(address);
  if (found == mappings.end() || found->second.descriptor < 0) return errorInvalidValue;
  const FakeHandle fake{getpid(), found->second.descriptor, found->second.byteLength};
  *handle = {};
  std::memcpy(handle->reserved, &fake, sizeof fake);
  return 0;
}
Result fIpcOpenMemHandle(DevicePtr *address, IpcMemHandle handle, unsigned) {
  if (ipcIs("none")) return errorInvalidValue;
  FakeHandle fake{};
  std::memcpy(&fake, handle.reserved, sizeof fake);
  // As the driver: a process cannot open what it has exported, save in tests of one process.
  if (fake.process == getpid() && !ipcIs("own")) return errorInvalidContext;
  const auto path = "/proc/" + std::to_string(fake.process) + "/fd/" + std::to_string(fake.descriptor);
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return errorInvalidValue;
  void *base = mmap(nullptr, fake.byteLength, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  if (base == MAP_FAILED) return errorOutOfMemory;
  std::lock_guard lock(stateMutex);
  *address = reinterpret_cast<DevicePtr>(base);
  mappings[*address] = {base, fake.byteLength, -1};
  blocks[*address] = {fake.byteLength, currentContext->device, nullptr, false};
  return 0;
}
Result fIpcCloseMemHandle(DevicePtr address) {
  std::lock_guard lock(stateMutex);
  const auto found = mappings.find(address);
  if (found == mappings.end() || found->second.descriptor >= 0) return errorInvalidValue;
  munmap(found->second.base, found->second.byteLength);
  blocks.erase(address);
  mappings.erase(found);
  return 0;
}

} // namespace

/// For a fake MPI that takes device memory: whether the address is one of device memory, and in `problem` what a real MPI would not stand.
EXPORT int fakeMemoryForMessages(const void *pointer, std::size_t byteLength, const char **problem) {
  std::lock_guard lock(stateMutex);
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  auto found = blocks.upper_bound(address);
  if (found == blocks.begin()) return 0;
  const auto &[start, block] = *--found;
  if (address >= start + block.byteLength || block.device < 0) return 0;
  const auto mapping = mappings.find(start);
  if (address + byteLength > start + block.byteLength) *problem = "the message goes beyond the end of its device memory";
  else if (currentContext == nullptr || currentContext->device != block.device) *problem = "the device of the memory is not the thread's current one";
  else if (mapping == mappings.end() || mapping->second.descriptor < 0) *problem = "no other process can map this device memory";
  return 1;
}
