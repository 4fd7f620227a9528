#include "mpi.h"

#include <dlfcn.h>

#include <deque>
#include <mutex>
#include <type_traits>

#include "dynamic_library.h"
#include "mpi_abi.h"
#include "native_error.h"

namespace tandem::mpi {

namespace {

void *find(void *library, const char *name) { return dlsym(library, name); }

std::string firstLine(const std::string &text) { return text.substr(0, text.find_first_of("\n\r")); }

template <class Function> Function *findFunction(void *library, const char *name) {
  return reinterpret_cast<Function *>(dlsym(library, name));
}

/// Must be called between MPI_Init and MPI_Finalize: otherwise MPICH ends the process, and Open MPI 5 always
/// reports no support before MPI_Init.
template <class Abi> std::optional<GpuSupport> askForGpuSupport(void *library, typename Abi::Comm comm) {
  // MPICH and libraries that share its interface; 0 is MPIX_GPU_SUPPORT_CUDA.
  if (auto *query = findFunction<int(int, int *)>(library, "MPIX_GPU_query_support")) {
    int supported = 0;
    if (query(0, &supported) == 0) return GpuSupport{supported != 0, "MPIX_GPU_query_support"};
  }
  if (auto *query = findFunction<int()>(library, "MPIX_Query_cuda_support")) return GpuSupport{query() != 0, "MPIX_Query_cuda_support"};
  // MPI 4.1: the kinds of memory that messages may come from, such as "mpi,system,cuda:device". Info handles
  // have the same type as communicators in every interface.
  using Info = typename Abi::Comm;
  auto *infoOf = findFunction<int(typename Abi::Comm, Info *)>(library, "MPI_Comm_get_info");
  auto *stringOf = findFunction<int(Info, const char *, int *, char *, int *)>(library, "MPI_Info_get_string");
  auto *freeInfo = findFunction<int(Info *)>(library, "MPI_Info_free");
  Info info{};
  if (infoOf == nullptr || stringOf == nullptr || freeInfo == nullptr || infoOf(comm, &info) != 0) return std::nullopt;
  char kinds[1024] = {};
  int length = sizeof kinds;
  int found = 0;
  const bool read = stringOf(info, "mpi_memory_alloc_kinds", &length, kinds, &found) == 0 && found != 0;
  freeInfo(&info);
  if (!read) return std::nullopt;
  return GpuSupport{std::string(kinds).find("cuda") != std::string::npos, "mpi_memory_alloc_kinds"};
}

template <class Abi> class TypedMpi final : public Mpi {
public:
  explicit TypedMpi(const Library &library) {
    if (!abi_.resolve(find, library.handle)) {
      throw NativeError("unsupported", library.path + " does not have the handles of " + familyName(library.family) + ".");
    }
    if (const auto missing = functions_.resolve(find, library.handle); !missing.empty()) {
      throw NativeError("unsupported", library.path + " does not have the function " + missing + ".");
    }
    int running = 0;
    functions_.initialized(&running);
    int provided = 0;
    if (running == 0) check(functions_.initThread(nullptr, nullptr, Abi::threadFunneled, &provided), "MPI_Init_thread");
    else check(functions_.queryThread(&provided), "MPI_Query_thread");
    // If other code started MPI before, it may call it on another thread at any time.
    int main = 0;
    check(functions_.isThreadMain(&main), "MPI_Is_thread_main");
    if (provided < (running == 0 || main != 0 ? Abi::threadFunneled : Abi::threadMultiple)) {
      throw NativeError("unsupported", library.path + " does not allow this process to have threads other than the one that calls MPI" +
                                           (running == 0 ? "." : ", and something else in the process has started it."));
    }
    check(functions_.commSetErrhandler(abi_.world, abi_.errorsReturn), "MPI_Comm_set_errhandler");
    auto &control = communicators_.emplace_back();
    check(functions_.commDup(abi_.world, &control), "MPI_Comm_dup");
    check(functions_.commSetErrhandler(control, abi_.errorsReturn), "MPI_Comm_set_errhandler");
    check(functions_.commRank(control, &rank_), "MPI_Comm_rank");
    check(functions_.commSize(control, &size_), "MPI_Comm_size");
    gpuSupport_ = askForGpuSupport<Abi>(library.handle, abi_.world);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::optional<GpuSupport> gpuSupport() const override { return gpuSupport_; }
  std::size_t pending() const override { return requests_.size() + (duplicating_ ? 1 : 0); }

  void send(Communicator communicator, const void *data, std::size_t byteLength, int peer, int tag, Completion &completion) override {
    makeRoom();
    Request request;
    check(functions_.isend(data, static_cast<int>(byteLength), abi_.byte, peer, tag, communicators_.at(communicator), &request), "MPI_Isend");
    requests_.push_back(request);
    completions_.push_back(&completion);
  }

  void receive(Communicator communicator, void *data, std::size_t byteLength, int peer, int tag, Completion &completion) override {
    makeRoom();
    Request request;
    check(functions_.irecv(data, static_cast<int>(byteLength), abi_.byte, peer, tag, communicators_.at(communicator), &request), "MPI_Irecv");
    requests_.push_back(request);
    completions_.push_back(&completion);
  }

  void beginDuplicate() override {
    // The element must not move until the request is complete, because MPI writes to it.
    auto &duplicate = communicators_.emplace_back();
    const auto result = functions_.commIdup(communicators_.front(), &duplicate, &duplicateRequest_);
    duplicating_ = result == 0;
    if (!duplicating_) throw noCommunicator(result, "MPI_Comm_idup");
  }

  std::optional<Communicator> duplicated() override {
    int done = 0;
    Status status{};
    if (const auto result = functions_.test(&duplicateRequest_, &done, &status); result != 0) {
      duplicating_ = false;
      throw noCommunicator(result, "MPI_Test of MPI_Comm_idup");
    }
    if (done == 0) return std::nullopt;
    duplicating_ = false;
    check(functions_.commSetErrhandler(communicators_.back(), abi_.errorsReturn), "MPI_Comm_set_errhandler");
    return static_cast<Communicator>(communicators_.size() - 1);
  }

  void poll(std::vector<Completion *> &done) override {
    const auto count = requests_.size();
    if (count == 0) return;
    indices_.resize(count);
    statuses_.resize(count);
    int completed = 0;
    check(functions_.testsome(static_cast<int>(count), requests_.data(), &completed, indices_.data(), statuses_.data()),
          "MPI_Testsome");
    if (completed <= 0) return;
    for (int index = 0; index < completed; ++index) {
      const auto place = static_cast<std::size_t>(indices_[index]);
      done.push_back(completions_[place]);
      completions_[place] = nullptr;
    }
    std::size_t kept = 0;
    for (std::size_t index = 0; index < count; ++index) {
      if (completions_[index] == nullptr) continue;
      requests_[kept] = requests_[index];
      completions_[kept] = completions_[index];
      ++kept;
    }
    requests_.resize(kept);
    completions_.resize(kept);
  }

  std::optional<Incoming> probe(int tag) override {
    int flag = 0;
    Status status{};
    check(functions_.iprobe(Abi::anySource, tag, communicators_.front(), &flag, &status), "MPI_Iprobe");
    if (flag == 0) return std::nullopt;
    int count = 0;
    check(functions_.getCount(&status, abi_.byte, &count), "MPI_Get_count");
    return Incoming{status.source, static_cast<std::size_t>(count)};
  }

  void finalize() override { check(functions_.finalize(), "MPI_Finalize"); }
  void abort(int exitCode) override { functions_.abort(abi_.world, exitCode); }

private:
  using Request = typename Abi::Request;
  using Status = typename Abi::Status;

  std::string failed(int result, const char *call) {
    char text[8192] = {};
    int length = 0;
    functions_.errorString(result, text, &length);
    return std::string(call) + " failed: " + firstLine(text) + ".";
  }

  void check(int result, const char *call) {
    if (result != 0) throw NativeError("device-lost", failed(result, call));
  }

  NativeError noCommunicator(int result, const char *call) {
    return {"out-of-memory", "MPI cannot create more communicators. " + failed(result, call)};
  }

  /// Reserves memory, so that a request that MPI has begun cannot be lost by a failed allocation.
  void makeRoom() {
    if (requests_.size() < requests_.capacity() && completions_.size() < completions_.capacity()) return;
    const auto capacity = 2 * requests_.size() + 64;
    requests_.reserve(capacity);
    completions_.reserve(capacity);
    indices_.reserve(capacity);
    statuses_.reserve(capacity);
  }

  Abi abi_{};
  Functions<Abi> functions_{};
  /// A deque, because MPI holds the address of a communicator while it creates it.
  std::deque<typename Abi::Comm> communicators_;
  typename Abi::Request duplicateRequest_{};
  bool duplicating_ = false;
  int rank_ = 0;
  int size_ = 1;
  std::optional<GpuSupport> gpuSupport_;
  // Parallel arrays, since MPI_Testsome needs an array of requests.
  std::vector<Request> requests_;
  std::vector<Completion *> completions_;
  std::vector<int> indices_;
  std::vector<Status> statuses_;
};

/// Determines which interface the library has, from its name and its exports.
Library describe(void *handle, const std::string &path) {
  Library library;
  library.handle = handle;
  library.path = path;
  // The loader's record contains the file that a short name resolved to.
  auto *version = reinterpret_cast<int (*)(char *, int *)>(dlsym(handle, "MPI_Get_library_version"));
  if (version == nullptr) throw NativeError("unsupported", path + " is not an MPI library: it does not have MPI_Get_library_version.");
  Dl_info where{};
  if (dladdr(reinterpret_cast<void *>(version), &where) != 0 && where.dli_fname != nullptr) library.path = where.dli_fname;
  std::string text(8192, '\0');
  int length = 0;
  version(text.data(), &length);
  text.resize(static_cast<std::size_t>(length));
  library.version = firstLine(text.c_str());
  for (char &character : library.version) {
    if (character == '\t') character = ' ';
  }
  if (library.path.find("libmpi_abi") != std::string::npos) library.family = Family::standardAbi;
  else if (dlsym(handle, "ompi_mpi_comm_world") != nullptr) library.family = Family::openMpi;
  else if (dlsym(handle, "MPIR_Err_create_code") != nullptr || text.find("MPICH") != std::string::npos ||
           text.find("Intel(R) MPI") != std::string::npos || text.find("MVAPICH") != std::string::npos) {
    library.family = Family::mpich;
  } else {
    throw NativeError("unsupported", library.path + " (" + library.version + ") is neither Open MPI, nor MPICH, nor an MPI 5 ABI library.");
  }
  if (library.family == Family::openMpi) {
    auto *query = findFunction<int()>(handle, "MPIX_Query_cuda_support");
    const bool supported = query != nullptr && query() != 0;
    // Up to version 4, the result reflects how the library was built; later versions know only once MPI is
    // started.
    if (supported || library.version.find("Open MPI v4") != std::string::npos) library.gpuAware = supported;
  }
  return library;
}

} // namespace

const char *familyName(Family family) {
  switch (family) {
  case Family::openMpi: return "Open MPI";
  case Family::mpich: return "MPICH";
  case Family::standardAbi: return "the MPI 5 ABI";
  }
  return "";
}

const Library &openLibrary(const std::vector<std::string> &candidates) {
  static std::mutex mutex;
  static std::optional<Library> opened;
  std::lock_guard lock(mutex);
  if (opened) return *opened;
  std::string failures;
  bool loads = false;
  for (const auto &candidate : candidates) {
    if (!failures.empty()) failures += "; ";
    // Opened locally first, so that it is inspected before its symbols become global.
    DynamicLibrary library({candidate});
    if (!library.isOpen()) {
      failures += library.failures();
      continue;
    }
    loads = true;
    try {
      auto found = describe(library.handle(), candidate);
      // Global, because Open MPI's plug-ins use symbols of the library that loads them.
      dlopen(candidate.c_str(), RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
      library.keep();
      opened = std::move(found);
      return *opened;
    } catch (const NativeError &error) {
      failures += error.what();
      if (failures.back() == '.') failures.pop_back();
    }
  }
  throw NativeError(loads ? "unsupported" : "no-driver", "No MPI library " + std::string(loads ? "is usable" : "could be loaded") + " (" + failures + ").");
}

std::unique_ptr<Mpi> start(const Library &library) {
  switch (library.family) {
  case Family::openMpi: return std::make_unique<TypedMpi<OpenMpiAbi>>(library);
  case Family::mpich: return std::make_unique<TypedMpi<MpichAbi>>(library);
  case Family::standardAbi: return std::make_unique<TypedMpi<StandardAbi>>(library);
  }
  throw NativeError("unsupported", "Unknown MPI.");
}

} // namespace tandem::mpi
