#include "nvrtc_compiler.h"

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

  /// Throws NativeError for any result but success. `log`, if not empty, is added to the message.
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

} // namespace

std::vector<int> version(const std::vector<std::string> &libraries) {
  const auto &library = loadOnce(libraries, load);
  std::vector<int> found(2);
  library.check(library.version(&found[0], &found[1]), library.version);
  return found;
}

Outcome compile(const std::vector<std::string> &libraries, const Request &request) {
  const auto &library = loadOnce(libraries, load);
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
  std::size_t size = 0;
  library.check(library.getPtxSize(program, &size), library.getPtxSize);
  std::string ptx(size + 1, '\0');
  library.check(library.getPtx(program, ptx.data()), library.getPtx);
  outcome.ptx = ptx.c_str();
  if (!virtualArchitecture) {
    library.check(library.getCubinSize(program, &size), library.getCubinSize);
    outcome.cubin.resize(size);
    library.check(library.getCubin(program, reinterpret_cast<char *>(outcome.cubin.data())), library.getCubin);
  }
  outcome.compiled = true;
  return outcome;
}

} // namespace tandem::nvrtc
