#include "nvrtc_compiler.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <fstream>
#include <list>

#include "dynamic_library.h"
#include "kept_signals.h"
#include "native_error.h"

namespace tandem::nvrtc {

namespace {

using Result = int;
using Program = struct NvrtcProgramHandle *;

constexpr Result success = 0;
constexpr Result errorOutOfMemory = 1;
constexpr Result errorCompilation = 6;

/// As NVRTC 11.2 and newer declare them.
struct Library : ImportTable {
  Import<Result(int *major, int *minor)> version{this, "nvrtcVersion"};
  Import<Result(Program *program, const char *source, const char *name, int headerCount, const char *const *headers,
                const char *const *headerNames)>
      createProgram{this, "nvrtcCreateProgram"};
  Import<Result(Program *program)> destroyProgram{this, "nvrtcDestroyProgram"};
  Import<Result(Program program, int optionCount, const char *const *options)> compileProgram{this, "nvrtcCompileProgram"};
  Import<Result(Program program, std::size_t *size)> getLogSize{this, "nvrtcGetProgramLogSize"};
  Import<Result(Program program, char *log)> getLog{this, "nvrtcGetProgramLog"};
  Import<Result(Program program, std::size_t *size)> getCubinSize{this, "nvrtcGetCUBINSize"};
  Import<Result(Program program, char *cubin)> getCubin{this, "nvrtcGetCUBIN"};
  Import<Result(Program program, std::size_t *size)> getPtxSize{this, "nvrtcGetPTXSize"};
  Import<Result(Program program, char *ptx)> getPtx{this, "nvrtcGetPTX"};
  Import<const char *(Result result)> getErrorString{this, "nvrtcGetErrorString"};

  /// Throws NativeError for any result but success. `log` says more where it is not empty.
  void check(Result result, const ImportEntry &function, const std::string &log = "") const {
    if (result == success) return;
    throw NativeError(result == errorOutOfMemory ? "out-of-memory" : "driver",
                      std::string(function.name) + " returned " + getErrorString(result) + (log.empty() ? "." : ": " + log));
  }
};

std::unique_ptr<Library> load(const std::vector<std::string> &candidates) {
  auto library = std::make_unique<Library>();
  DynamicLibrary opened(candidates);
  resolve(*library, opened, "NVRTC, CUDA's run-time compiler,", ": it is older than 11.2");
  opened.keep();
  KeptSignals::includeLibrary(library->compileProgram.address);
  return library;
}

/// A program, which goes with this.
struct OwnedProgram {
  const Library &library;
  Program program = nullptr;
  ~OwnedProgram() {
    if (program != nullptr) library.destroyProgram(&program);
  }
};

Outcome compileWith(const Library &library, const Request &request) {
  std::vector<const char *> options;
  bool virtualArchitecture = false;
  for (const auto &option : request.options) {
    options.push_back(option.c_str());
    if (option.find("=compute_") != std::string::npos) virtualArchitecture = true;
  }
  OwnedProgram owned{library};
  library.check(
      library.createProgram(&owned.program, request.source.c_str(), request.name.c_str(), 0, nullptr, nullptr),
      library.createProgram);
  const auto program = owned.program;
  const auto result = [&] {
    const KeptSignals kept;
    return library.compileProgram(program, static_cast<int>(options.size()), options.data());
  }();
  Outcome outcome;
  std::size_t logSize = 0;
  if (library.getLogSize(program, &logSize) == success && logSize > 1) {
    std::string log(logSize, '\0');
    if (library.getLog(program, log.data()) == success) outcome.log = log.c_str();
  }
  if (result == errorCompilation) return outcome;
  library.check(result, library.compileProgram, outcome.log);
  const auto &getSize = virtualArchitecture ? library.getPtxSize : library.getCubinSize;
  const auto &getImage = virtualArchitecture ? library.getPtx : library.getCubin;
  std::size_t size = 0;
  library.check(getSize(program, &size), getSize);
  outcome.image.resize(size);
  library.check(getImage(program, reinterpret_cast<char *>(outcome.image.data())), getImage);
  outcome.compiled = true;
  return outcome;
}

/// Loads the file of `library` a second time, with data of its own, from a copy in memory: the loader would
/// otherwise return the library that is loaded. Null if the copy cannot be made or does not compile an empty kernel
/// with `options`. The descriptor stays open, since the loader knows a library by its path.
std::unique_ptr<Library> copyOf(const Library &library, const std::vector<std::string> &options) {
  Dl_info info{};
  if (dladdr(library.compileProgram.address, &info) == 0) return nullptr;
  const int file = memfd_create("nvrtc-copy", MFD_CLOEXEC);
  if (file < 0) return nullptr;
  const auto path = "/proc/self/fd/" + std::to_string(file);
  std::ofstream copied(path, std::ios::binary);
  copied << std::ifstream(info.dli_fname, std::ios::binary).rdbuf();
  copied.close();
  // A file that is cut off would end the process where the loader reads it.
  if (!copied) return nullptr;
  try {
    auto copy = load({path});
    if (compileWith(*copy, {"extern \"C\" __global__ void empty() {}", "empty.cu", options}).compiled) return copy;
  } catch (const NativeError &) {
  }
  return nullptr;
}

/// NVRTC and its copies. NVRTC (seen in 13.0) compiles one program at a time however many threads call it;
/// copies of it compile at the same time.
class Compilers {
public:
  explicit Compilers(std::unique_ptr<Library> library) { compilers_.push_back({std::move(library)}); }

  const Library &first() const { return *compilers_.front().library; }

  Outcome compile(const Request &request) const {
    auto &compiler = leastBusy(request.options);
    const auto release = [&](bool compiled) {
      std::lock_guard lock(mutex_);
      --compiler.calls;
      if (compiled) hasCompiled_ = true;
    };
    try {
      auto outcome = compileWith(*compiler.library, request);
      release(outcome.compiled);
      return outcome;
    } catch (...) {
      release(false);
      throw;
    }
  }

private:
  struct Compiler {
    std::unique_ptr<Library> library;
    int calls = 0;
  };

  static constexpr std::size_t mostCompilers = 4;
  /// A copy takes 0.1 s and 104 MiB, as much time as a few kernels, so it is made only for a program of many kernels.
  static constexpr int waitsPerCopy = 4;

  /// Makes a copy, for kernels with `options`, if too many calls have had to wait.
  Compiler &leastBusy(const std::vector<std::string> &options) const {
    std::unique_lock lock(mutex_);
    const auto least = [&]() -> Compiler & {
      return *std::min_element(compilers_.begin(), compilers_.end(), [](auto &a, auto &b) { return a.calls < b.calls; });
    };
    // A copy finds the library of built-in functions only after NVRTC itself has loaded it.
    if (least().calls > 0 && hasCompiled_ && mayCopy_ && compilers_.size() < mostCompilers && ++waits_ >= waitsPerCopy) {
      mayCopy_ = false;
      lock.unlock();
      auto copy = copyOf(first(), options);
      lock.lock();
      waits_ = 0;
      mayCopy_ = copy != nullptr;
      if (copy) compilers_.push_back({std::move(copy)});
    }
    auto &found = least();
    ++found.calls;
    return found;
  }

  mutable std::mutex mutex_;
  /// A list, whose elements stay where they are.
  mutable std::list<Compiler> compilers_;
  mutable bool hasCompiled_ = false;
  /// False while a copy is being made, and once one could not be made.
  mutable bool mayCopy_ = true;
  mutable int waits_ = 0;
};

std::unique_ptr<Compilers> loadCompilers(const std::vector<std::string> &candidates) {
  return std::make_unique<Compilers>(load(candidates));
}

} // namespace

std::vector<int> version(const std::vector<std::string> &libraries) {
  const auto &library = loadOnce(libraries, loadCompilers).first();
  std::vector<int> found(2);
  library.check(library.version(&found[0], &found[1]), library.version);
  return found;
}

Outcome compile(const std::vector<std::string> &libraries, const Request &request) {
  return loadOnce(libraries, loadCompilers).compile(request);
}

} // namespace tandem::nvrtc
