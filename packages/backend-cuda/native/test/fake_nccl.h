// NCCL between processes, or threads, of one machine: rings in an anonymous file, which others open through
// its descriptor in /proc. A communicator never blocks: a group is issued by the second look at its state, as
// if a thread of NCCL's did it, so that a caller that does not wait loses it. As NCCL does, ncclCommAbort
// waits for all graphs with operations of the communicator. Included once, by fake_cuda.cpp.
#pragma once
#include <algorithm>
#include <utility>

#include "../src/nccl_api.h"
#include "fake_injection.h"
#include "fake_ipc.h"

namespace {

namespace nccl = tandem::nccl;

constexpr int mostRanks = 8;
/// Messages are longer than that in tests: then a sender waits for its receiver.
constexpr std::uint64_t ringByteLength = 4096;
struct Ring {
  std::atomic<std::uint64_t> written;
  std::atomic<std::uint64_t> read;
  char bytes[ringByteLength];
};
struct Meeting {
  std::atomic<int> arrived;
  Ring rings[mostRanks][mostRanks];
};
struct MeetingName {
  long process;
  int descriptor;
};

struct FakeMessage {
  bool sends;
  int peer;
  char *memory;
  std::size_t byteLength;
  FakeStream *stream;
  std::size_t done = 0;
};

struct FakeComm {
  Meeting *meeting;
  int rank;
  int count;
  int device;
  std::atomic<bool> aborted{false};
  /// Of operations that are under way, or in a graph.
  std::atomic<long> references{0};
  std::vector<FakeMessage> pending{};
  int looks = 0;

  Result run(std::vector<FakeMessage> messages) {
    for (const auto &message : messages) {
      if (const auto bad = checkRange(device, message.memory, message.byteLength)) return bad;
    }
    // First messages between two ranks in one direction come before second ones, and hold them all up.
    while (!messages.empty() && !aborted.load()) {
      std::vector<FakeMessage> now, later;
      bool taken[2][mostRanks] = {};
      for (const auto &message : messages) {
        auto &same = taken[message.sends ? 1 : 0][message.peer];
        (same ? later : now).push_back(message);
        same = true;
      }
      spinUntil([&] {
        bool left = false;
        for (auto &message : now) {
          move(message);
          left = left || message.done < message.byteLength;
        }
        return !left || aborted.load();
      });
      messages = std::move(later);
    }
    return 0;
  }
  void move(FakeMessage &message) {
    auto &ring = message.sends ? meeting->rings[rank][message.peer] : meeting->rings[message.peer][rank];
    while (message.done < message.byteLength) {
      const auto written = ring.written.load();
      const auto read = ring.read.load();
      const auto begin = (message.sends ? written : read) % ringByteLength;
      const auto there = message.sends ? ringByteLength - (written - read) : written - read;
      const auto part = std::min<std::uint64_t>({message.byteLength - message.done, there, ringByteLength - begin});
      if (part == 0) return;
      if (message.sends) {
        std::memcpy(ring.bytes + begin, message.memory + message.done, part);
        ring.written.store(written + part);
      } else {
        std::memcpy(message.memory + message.done, ring.bytes + begin, part);
        ring.read.store(read + part);
      }
      message.done += part;
    }
  }
  void issue() {
    auto messages = std::move(pending);
    pending.clear();
    auto *stream = messages.front().stream;
    ++references;
    const std::shared_ptr<void> reference(this, [](void *comm) { --static_cast<FakeComm *>(comm)->references; });
    if (stream->capture == nullptr) {
      stream->push([this, messages, reference] { fail(run(messages)); });
      return;
    }
    FakeNode node{[this, messages, reference] { return run(messages); }, {}, stream->priority};
    for (std::size_t index = 0; index < stream->capture->nodes.size(); ++index) node.after.push_back(index);
    stream->capture->nodes.push_back(std::move(node));
  }
};
FakeComm *fake(nccl::Comm comm) { return reinterpret_cast<FakeComm *>(comm); }

/// The group that this thread gathers.
thread_local std::vector<FakeMessage> gathered;
thread_local FakeComm *gatheredFor = nullptr;

nccl::Result gather(bool sends, void *memory, std::size_t byteLength, int peer, nccl::Comm comm, Stream stream) {
  if (peer < 0 || peer >= fake(comm)->count || !fake(comm)->pending.empty()) return 4;
  // Behind blocks of other kernels a message would wait until these are done.
  if (fake(stream)->priority != greatestPriority) return 4;
  gathered.push_back({sends, peer, static_cast<char *>(memory), byteLength, fake(stream)});
  gatheredFor = fake(comm);
  return nccl::success;
}

} // namespace

EXPORT nccl::Result ncclGetVersion(int *version) {
  INJECTED("ncclGetVersion");
  *version = static_cast<int>(setting("FAKE_NCCL_VERSION", 22803));
  return nccl::success;
}
EXPORT nccl::Result ncclGetUniqueId(nccl::UniqueId *id) {
  INJECTED("ncclGetUniqueId");
  const MeetingName name{getpid(), memfd_create("fake NCCL", MFD_CLOEXEC)};
  if (name.descriptor < 0 || ftruncate(name.descriptor, sizeof(Meeting)) != 0) return 2;
  *id = {};
  std::memcpy(id->internal, &name, sizeof name);
  return nccl::success;
}
EXPORT nccl::Result ncclCommInitRankConfig(nccl::Comm *comm, int count, nccl::UniqueId id, int rank, nccl::Config *config) {
  INJECTED("ncclCommInitRankConfig");
  if (config->magic != nccl::configMagic || config->blocking != 0 || config->graphUsageMode != 1 || currentContext == nullptr || count > mostRanks) return 4;
  MeetingName name{};
  std::memcpy(&name, id.internal, sizeof name);
  const auto path = "/proc/" + std::to_string(name.process) + "/fd/" + std::to_string(name.descriptor);
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return 2;
  void *meeting = mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  if (meeting == MAP_FAILED) return 2;
  auto *made = new FakeComm{static_cast<Meeting *>(meeting), rank, count, currentContext->device};
  ++made->meeting->arrived;
  *comm = reinterpret_cast<nccl::Comm>(made);
  return nccl::inProgress;
}
EXPORT nccl::Result ncclCommGetAsyncError(nccl::Comm comm, nccl::Result *state) {
  INJECTED("ncclCommGetAsyncError");
  auto *asked = fake(comm);
  *state = nccl::inProgress;
  if (asked->meeting->arrived.load() < asked->count) return nccl::success;
  if (!asked->pending.empty()) {
    if (asked->looks++ == 0) return nccl::success;
    asked->issue();
  }
  *state = static_cast<nccl::Result>(setting("FAKE_NCCL_STATE", nccl::success));
  return nccl::success;
}
EXPORT nccl::Result ncclCommAbort(nccl::Comm comm) {
  INJECTED("ncclCommAbort");
  auto *ended = fake(comm);
  ended->aborted.store(true);
  spinUntil([&] { return ended->references.load() == 0; });
  munmap(ended->meeting, sizeof(Meeting));
  delete ended;
  return nccl::success;
}
EXPORT nccl::Result ncclGroupStart() {
  INJECTED("ncclGroupStart");
  gathered.clear();
  gatheredFor = nullptr;
  return nccl::success;
}
EXPORT nccl::Result ncclGroupEnd() {
  INJECTED("ncclGroupEnd");
  if (gathered.empty()) return nccl::success;
  gatheredFor->pending = std::move(gathered);
  gatheredFor->looks = 0;
  return nccl::inProgress;
}
EXPORT nccl::Result ncclSend(const void *source, std::size_t count, int type, int peer, nccl::Comm comm, Stream stream) {
  INJECTED("ncclSend");
  return type == nccl::typeByte ? gather(true, const_cast<void *>(source), count, peer, comm, stream) : 4;
}
EXPORT nccl::Result ncclRecv(void *target, std::size_t count, int type, int peer, nccl::Comm comm, Stream stream) {
  INJECTED("ncclRecv");
  return type == nccl::typeByte ? gather(false, target, count, peer, comm, stream) : 4;
}
EXPORT const char *ncclGetErrorString(nccl::Result result) {
  return result == 6 ? "remote process exited or there was a network error" : "error of the fake NCCL";
}
EXPORT const char *ncclGetLastError(nccl::Comm) { return "the last line of its log.\n"; }
