#include "nvrtc_compiler.h"

#include <map>
#include <memory>
#include <mutex>

#include "dynamic_library.h"
#include "native_error.h"

namespace tandem::nvrtc {

namespace {

using Result = int;
using Program = struct NvrtcProgramHandle *;

constexpr Result success = 0;
constexpr Result errorOutOfMemory = 1;
constexpr Result errorCompilation = 6;

// X(member, symbol, parameters), as NVRTC 11.2 and newer declare them.
#define TANDEM_NVRTC_FUNCTIONS(X)                                                                                      \
  X(version, "nvrtcVersion", (int *major, int *minor))                                                                 \
  X(createProgram, "nvrtcCreateProgram",                                                                               \
    (Program * program, const char *source, const char *name, int headerCount, const char *const *headers,             \
     const char *const *headerNames))                                                                                  \
  X(destroyProgram, "nvrtcDestroyProgram", (Program * program))                                                        \
  X(compileProgram, "nvrtcCompileProgram", (Program program, int optionCount, const char *const *options))             \
  X(getLogSize, "nvrtcGetProgramLogSize", (Program program, std::size_t *size))                                        \
  X(getLog, "nvrtcGetProgramLog", (Program program, char *log))                                                        \
  X(getCubinSize, "nvrtcGetCUBINSize", (Program program, std::size_t *size))                                           \
  X(getCubin, "nvrtcGetCUBIN", (Program program, char *cubin))                                                         \
  X(getPtxSize, "nvrtcGetPTXSize", (Program program, std::size_t *size))                                               \
  X(getPtx, "nvrtcGetPTX", (Program program, char *ptx))

struct Library {
#define TANDEM_MEMBER(member, symbol, parameters) Result(*member) parameters = nullptr;
  TANDEM_NVRTC_FUNCTIONS(TANDEM_MEMBER)
#undef TANDEM_MEMBER
  const char *(*getErrorString)(Result) = nullptr;
};

std::mutex loadMutex;

const Library &load(const std::vector<std::string> &candidates) {
  static auto *libraries = new std::map<std::string, std::unique_ptr<Library>>();
  std::string key;
  for (const auto &candidate : candidates) key += candidate + "\n";
  std::lock_guard lock(loadMutex);
  auto &known = (*libraries)[key];
  if (known) return *known;
  DynamicLibrary opened(candidates);
  if (!opened.isOpen()) {
    throw NativeError("unsupported", "NVRTC, CUDA's run-time compiler, does not load (" + opened.failures() + ").");
  }
  auto library = std::make_unique<Library>();
#define TANDEM_RESOLVE(member, symbol, parameters)                                                                     \
  library->member = reinterpret_cast<decltype(library->member)>(opened.find(symbol));                               \
  if (library->member == nullptr) {                                                                                    \
    throw NativeError("unsupported", "NVRTC at " + opened.path() + " has no " + symbol + ": it is older than 11.2."); \
  }
  TANDEM_NVRTC_FUNCTIONS(TANDEM_RESOLVE)
#undef TANDEM_RESOLVE
  library->getErrorString = reinterpret_cast<decltype(library->getErrorString)>(opened.find("nvrtcGetErrorString"));
  opened.keep();
  known = std::move(library);
  return *known;
}

/// `log` says more where it is not empty.
void check(const Library &library, Result result, const char *call, const std::string &log = "") {
  if (result == success) return;
  const char *text = library.getErrorString != nullptr ? library.getErrorString(result) : "unknown error";
  throw NativeError(result == errorOutOfMemory ? "out-of-memory" : "driver",
                    std::string(call) + " returns " + text + (log.empty() ? "." : ": " + log));
}

} // namespace

std::pair<int, int> version(const std::vector<std::string> &libraries) {
  const auto &library = load(libraries);
  std::pair<int, int> found;
  check(library, library.version(&found.first, &found.second), "nvrtcVersion");
  return found;
}

Outcome compile(const Request &request) {
  const auto &library = load(request.libraries);
  std::vector<const char *> options;
  bool virtualArchitecture = false;
  for (const auto &option : request.options) {
    options.push_back(option.c_str());
    if (option.find("=compute_") != std::string::npos) virtualArchitecture = true;
  }
  struct Handle {
    const Library &library;
    Program program = nullptr;
    ~Handle() {
      if (program != nullptr) library.destroyProgram(&program);
    }
  } handle{library};
  check(library,
        library.createProgram(&handle.program, request.source.c_str(), request.name.c_str(), 0, nullptr, nullptr),
        "nvrtcCreateProgram");
  const auto result = library.compileProgram(handle.program, static_cast<int>(options.size()), options.data());
  Outcome outcome;
  std::size_t logSize = 0;
  if (library.getLogSize(handle.program, &logSize) == success && logSize > 1) {
    outcome.log.resize(logSize);
    library.getLog(handle.program, outcome.log.data());
    outcome.log.resize(logSize - 1);
  }
  if (result == errorCompilation) return outcome;
  check(library, result, "nvrtcCompileProgram", outcome.log);
  std::size_t size = 0;
  check(library, virtualArchitecture ? library.getPtxSize(handle.program, &size) : library.getCubinSize(handle.program, &size),
        virtualArchitecture ? "nvrtcGetPTXSize" : "nvrtcGetCUBINSize");
  outcome.image.resize(size);
  auto *image = reinterpret_cast<char *>(outcome.image.data());
  check(library, virtualArchitecture ? library.getPtx(handle.program, image) : library.getCubin(handle.program, image),
        virtualArchitecture ? "nvrtcGetPTX" : "nvrtcGetCUBIN");
  outcome.compiled = true;
  return outcome;
}

} // namespace tandem::nvrtc
