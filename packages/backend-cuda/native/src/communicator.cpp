#include "communicator.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include "dynamic_library.h"

namespace tandem::nccl {

namespace {

/// NCCL waits for ever for a rank that cannot be reached.
constexpr auto longestConnection = std::chrono::minutes(2);
constexpr auto longestAbort = std::chrono::seconds(10);
constexpr auto pollPause = std::chrono::microseconds(50);

std::string shownVersion(int version) {
  return std::to_string(version / 10000) + "." + std::to_string(version % 10000 / 100) + "." + std::to_string(version % 100);
}

std::unique_ptr<Library> loadNccl(const std::vector<std::string> &candidates) {
  auto library = std::make_unique<Library>();
  DynamicLibrary opened(candidates);
  resolve(*library, opened, "NCCL");
  if (library->getVersion(&library->version) != success || library->version < oldestVersion) {
    throw NativeError("unsupported", "NCCL at " + opened.path() + " is version " + shownVersion(library->version) +
                                         ", but this package needs " + shownVersion(oldestVersion) + " or newer.");
  }
  opened.keep();
  return library;
}

} // namespace

int version(const std::vector<std::string> &libraries) { return loadOnce(libraries, loadNccl).version; }

std::vector<std::uint8_t> uniqueId(const std::vector<std::string> &libraries) {
  const auto &library = loadOnce(libraries, loadNccl);
  UniqueId id{};
  if (const auto result = library.getUniqueId(&id); result != success) {
    throw NativeError("driver", std::string("ncclGetUniqueId returned ") + library.getErrorString(result) + ".");
  }
  return {std::begin(id.internal), std::end(id.internal)};
}

Communicator::Communicator(const std::vector<std::string> &libraries, const std::vector<std::uint8_t> &id, int rank, int count,
                           std::function<bool()> broken, std::vector<std::string> &releaseFailures)
    : library_(loadOnce(libraries, loadNccl)), broken_(std::move(broken)), releaseFailures_(releaseFailures) {
  UniqueId name{};
  if (id.size() != sizeof name) throw NativeError("driver", "The name of the communicator has the wrong length.");
  std::copy(id.begin(), id.end(), name.internal);
  Config config;
  config.blocking = 0;
  config.graphUsageMode = 1;
  try {
    settle(library_.commInitRankConfig(&comm_, count, name, rank, &config), library_.commInitRankConfig);
  } catch (...) {
    close();
    throw;
  }
}

Communicator::~Communicator() { close(); }

void Communicator::abort() {
  if (comm_ == nullptr) return;
  // In a separate thread, because NCCL waits until all graphs with its operations are freed, and freeing them
  // waits for the GPU. The call is local: ncclCommDestroy would wait for the other ranks.
  std::packaged_task<Result()> task([&library = library_, comm = comm_] { return library.commAbort(comm); });
  auto gone = task.get_future();
  try {
    std::thread(std::move(task)).detach();
  } catch (const std::system_error &) {
    // The operating system cannot start a thread, so `close` makes the call itself.
    return;
  }
  gone_ = std::move(gone);
  comm_ = nullptr;
}

void Communicator::close() {
  abort();
  if (comm_ != nullptr) {
    // The graphs for which NCCL would wait have been destroyed by now.
    std::promise<Result> result;
    gone_ = result.get_future();
    result.set_value(library_.commAbort(std::exchange(comm_, nullptr)));
  }
  if (!gone_.valid()) return;
  if (gone_.wait_for(longestAbort) != std::future_status::ready) {
    releaseFailures_.push_back("ncclCommAbort does not return.");
    return;
  }
  try {
    check(gone_.get(), library_.commAbort);
  } catch (const NativeError &error) {
    releaseFailures_.push_back(error.what());
  }
}

void Communicator::check(Result result, const ImportEntry &function) const {
  if (result == success || result == inProgress) return;
  std::string reason = library_.getErrorString(result);
  if (const char *last = comm_ == nullptr ? nullptr : library_.getLastError(comm_); last != nullptr && *last != '\0') {
    reason += std::string(": ") + last;
  }
  while (!reason.empty() && (reason.back() == '\n' || reason.back() == '.')) reason.pop_back();
  throw NativeError("driver", std::string(function.name) + " returned " + reason + ".");
}

void Communicator::settle(Result result, const ImportEntry &function) const {
  check(result, function);
  const auto end = std::chrono::steady_clock::now() + longestConnection;
  while (result == inProgress) {
    if (broken_()) throw NativeError("peer-lost", "Another process cannot continue.");
    if (std::chrono::steady_clock::now() > end) {
      throw NativeError("driver", std::string(function.name) + " did not finish within two minutes: one process cannot reach another.");
    }
    std::this_thread::sleep_for(pollPause);
    check(library_.commGetAsyncError(comm_, &result), library_.commGetAsyncError);
    check(result, function);
  }
}

void Communicator::exchange(const std::vector<Message> &messages, cuda::Stream stream) const {
  check(library_.groupStart(), library_.groupStart);
  Result result = success;
  const ImportEntry *failed = nullptr;
  for (const auto &message : messages) {
    auto *const memory = reinterpret_cast<void *>(message.address);
    result = message.sends ? library_.send(memory, message.byteLength, typeByte, message.peer, comm_, stream)
                           : library_.recv(memory, message.byteLength, typeByte, message.peer, comm_, stream);
    if (result == success || result == inProgress) continue;
    failed = message.sends ? static_cast<const ImportEntry *>(&library_.send) : &library_.recv;
    break;
  }
  // A group that has begun must end, even after a failure.
  const auto ended = library_.groupEnd();
  if (failed != nullptr) check(result, *failed);
  settle(ended, library_.groupEnd);
}

void Communicator::requireWhole() const {
  if (broken_() || comm_ == nullptr) throw NativeError("peer-lost", "Another process cannot continue.");
  Result state = success;
  try {
    check(library_.commGetAsyncError(comm_, &state), library_.commGetAsyncError);
    check(state, library_.commGetAsyncError);
  } catch (const NativeError &error) {
    throw NativeError("peer-lost", std::string("Another process does not answer: ") + error.what());
  }
}

} // namespace tandem::nccl
