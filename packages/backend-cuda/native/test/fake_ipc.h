// Device memory that other processes map: anonymous files, which a process opens through the other's
// descriptors in /proc. Included once, by fake_cuda.cpp.
#pragma once
#include <fcntl.h>
#include <signal.h>
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
  /// Handles of two allocations in one block differ, unless FAKE_CUDA_IPC_MARKS is 0, and open the same
  /// memory.
  std::size_t place;
};
/// At the start of each block, for all processes that map it: those that have done so, 0 in free places.
struct BlockHead {
  std::atomic<int> mappers[64];
};
/// The driver puts small allocations into blocks; a handle names the whole block.
struct SharedBlock {
  char *base;
  std::size_t byteLength;
  int descriptor;
  int device;
  std::size_t end;
  int allocations;
};
struct Mapping {
  /// Null for another process's memory.
  std::shared_ptr<SharedBlock> block;
  char *base;
  std::size_t byteLength;
};
/// By the first address that the caller knows.
std::map<std::uintptr_t, Mapping> mappings;
/// The last block of small allocations on each device.
std::shared_ptr<SharedBlock> openBlocks[64];
/// Blocks that are freed and that other processes still map: their memory comes back when they have unmapped
/// it.
std::vector<SharedBlock> lingering;
/// Other processes' memory here, by process and descriptor, and how often it is opened.
std::map<std::pair<long, int>, std::pair<std::uintptr_t, int>> opened;
constexpr std::size_t placeInBlock = 512;
static_assert(sizeof(BlockHead) <= placeInBlock);
constexpr std::size_t largestSmall = 4096;
constexpr std::size_t smallBlockByteLength = 64 << 10;

BlockHead &headOf(const SharedBlock &block) { return *reinterpret_cast<BlockHead *>(block.base); }

/// Processes that have ended map nothing.
bool isMapped(const SharedBlock &block) {
  for (const auto &mapper : headOf(block).mappers) {
    const int process = mapper.load();
    if (process != 0 && (process == getpid() || kill(process, 0) == 0)) return true;
  }
  return false;
}
void giveBack(const SharedBlock &block) {
  usedBytes[block.device] -= block.byteLength;
  munmap(block.base, block.byteLength);
  close(block.descriptor);
}
void sweep() {
  for (auto block = lingering.begin(); block != lingering.end();) {
    if (isMapped(*block)) {
      ++block;
      continue;
    }
    giveBack(*block);
    block = lingering.erase(block);
  }
}
std::shared_ptr<SharedBlock> makeBlock(int device, std::size_t byteLength) {
  sweep();
  if (usedBytes[device] + byteLength > deviceMemory()) return nullptr;
  const int descriptor = memfd_create("fake device memory", MFD_CLOEXEC);
  if (descriptor < 0 || ftruncate(descriptor, static_cast<off_t>(byteLength)) != 0) return nullptr;
  auto *base = static_cast<char *>(mmap(nullptr, byteLength, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0));
  if (base == MAP_FAILED) return nullptr;
  usedBytes[device] += byteLength;
  return std::make_shared<SharedBlock>(SharedBlock{base, byteLength, descriptor, device, placeInBlock, 0});
}

Result fMemAlloc(DevicePtr *address, std::size_t bytes) {
  if (sticky.load() != 0) return sticky.load();
  std::lock_guard lock(stateMutex);
  const int device = currentContext->device;
  const bool small = bytes <= largestSmall;
  const auto aligned = (bytes + placeInBlock - 1) / placeInBlock * placeInBlock;
  auto block = small ? openBlocks[device] : nullptr;
  if (!block || block->end + aligned > block->byteLength) {
    block = makeBlock(device, small ? smallBlockByteLength : placeInBlock + bytes);
    if (!block) return errorOutOfMemory;
    if (small) openBlocks[device] = block;
  }
  auto *place = block->base + block->end;
  block->end += aligned;
  block->allocations += 1;
  if (bytes <= std::size_t{64} << 20) std::memset(place, 0xcd, bytes);
  *address = reinterpret_cast<DevicePtr>(place);
  mappings[*address] = {block, block->base, block->byteLength};
  blocks[*address] = {bytes, device, nullptr, peersAllowed()};
  return 0;
}
Result fMemFree(DevicePtr address) {
  std::lock_guard lock(stateMutex);
  const auto found = mappings.find(address);
  if (found == mappings.end() || !found->second.block) return errorInvalidValue;
  const auto block = found->second.block;
  blocks.erase(address);
  mappings.erase(found);
  if (--block->allocations > 0) return 0;
  if (openBlocks[block->device] == block) openBlocks[block->device] = nullptr;
  lingering.push_back(*block);
  sweep();
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
  if (found == mappings.end() || !found->second.block) return errorInvalidValue;
  const auto &block = *found->second.block;
  const auto place = setting("FAKE_CUDA_IPC_MARKS", 1) != 0 ? address - reinterpret_cast<std::uintptr_t>(block.base) : 0;
  const FakeHandle fake{getpid(), block.descriptor, block.byteLength, place};
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
  std::lock_guard lock(stateMutex);
  // As the driver: what is open already has one address.
  if (const auto known = opened.find({fake.process, fake.descriptor}); known != opened.end()) {
    known->second.second += 1;
    *address = known->second.first;
    return 0;
  }
  const auto path = "/proc/" + std::to_string(fake.process) + "/fd/" + std::to_string(fake.descriptor);
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return errorInvalidValue;
  void *base = mmap(nullptr, fake.byteLength, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  if (base == MAP_FAILED) return errorOutOfMemory;
  for (auto &mapper : static_cast<BlockHead *>(base)->mappers) {
    int none = 0;
    if (mapper.compare_exchange_strong(none, getpid())) break;
  }
  *address = reinterpret_cast<DevicePtr>(base);
  opened[{fake.process, fake.descriptor}] = {*address, 1};
  mappings[*address] = {nullptr, static_cast<char *>(base), fake.byteLength};
  blocks[*address] = {fake.byteLength, currentContext->device, nullptr, false};
  return 0;
}
Result fIpcCloseMemHandle(DevicePtr address) {
  std::lock_guard lock(stateMutex);
  const auto found = mappings.find(address);
  if (found == mappings.end() || found->second.block) return errorInvalidValue;
  for (auto place = opened.begin(); place != opened.end(); ++place) {
    if (place->second.first != address) continue;
    if (--place->second.second > 0) return 0;
    opened.erase(place);
    break;
  }
  for (auto &mapper : reinterpret_cast<BlockHead *>(found->second.base)->mappers) {
    int own = getpid();
    if (mapper.compare_exchange_strong(own, 0)) break;
  }
  munmap(found->second.base, found->second.byteLength);
  blocks.erase(address);
  mappings.erase(found);
  return 0;
}

} // namespace

/// For a fake MPI that takes device memory: whether the address is one of device memory, and in `problem`
/// what a real MPI would not stand.
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
  else if (mapping == mappings.end() || !mapping->second.block) *problem = "no other process can map this device memory";
  return 1;
}
