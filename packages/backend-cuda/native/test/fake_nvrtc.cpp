// An NVRTC on the host's C++ compiler. Threads of a block run one after another, so kernels with barriers do
// not work.
#include <csignal>
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <mutex>
#include <sstream>
#include <string>

#include "fake_injection.h"
#include "fake_settings.h"
#include "fake_signatures.h"

namespace {

struct FakeProgram {
  std::string source;
  std::string name;
  std::string log;
  std::string image;
};

const char *const shim = R"(
struct FakeDim { unsigned x, y, z; };
static thread_local FakeDim blockIdx, threadIdx, blockDim, gridDim;
#define __global__
extern "C" int fake_fault;
int fake_fault = 0;
extern "C" void fake_set_thread(const unsigned *ids) {
  blockIdx = {ids[0], ids[1], ids[2]}; threadIdx = {ids[3], ids[4], ids[5]};
  blockDim = {ids[6], ids[7], ids[8]}; gridDim = {ids[9], ids[10], ids[11]};
}
)";

/// The compiler's output with places as NVRTC writes them: name(line) in place of name:line:column.
std::string withPlacesOfNvrtc(const std::string &output) {
  std::istringstream lines(output);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    const auto name = line.find(':');
    const auto number = name == std::string::npos ? name : line.find(':', name + 1);
    const auto column = number == std::string::npos ? number : line.find(": ", number + 1);
    const auto isNumber = [&](std::size_t from, std::size_t to) {
      return from < to && line.find_first_not_of("0123456789", from) >= to;
    };
    if (column != std::string::npos && name > 0 && isNumber(name + 1, number) && isNumber(number + 1, column))
      line = line.substr(0, name) + "(" + line.substr(name + 1, number - name - 1) + ")" + line.substr(column);
    result += line + "\n";
  }
  return result;
}

std::string contentsOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Where libraries of kernels lie, which are named by what they are made of: one run of the tests after
/// another compiles the same kernels.
const std::string &kernelFolder() {
  static const std::string folder = [] {
    Dl_info self{};
    dladdr(shim, &self);
    const std::string path = self.dli_fname;
    return path.substr(0, path.rfind('/')) + "/kernels";
  }();
  mkdir(folder.c_str(), 0777);
  return folder;
}

/// The text, and those of the files that it and they include by their paths; `folder` is that of the text.
std::string withIncluded(const std::string &text, const std::string &folder = "") {
  const std::string directive = "#include \"";
  auto result = text;
  for (auto at = text.find(directive); at != std::string::npos; at = text.find(directive, at + 1)) {
    const auto from = at + directive.size();
    const auto given = text.substr(from, text.find('"', from) - from);
    const auto path = given.front() == '/' ? given : folder + given;
    result += withIncluded(contentsOf(path), path.substr(0, path.rfind('/') + 1));
  }
  return result;
}

/// Compiles the program into the bytes of a library. Returns NVRTC's result; the log says why a program does
/// not compile.
int makeLibrary(FakeProgram &program, std::string &bytes) {
  // Integers that overflow, divisors of 0 and shifts by 32 end the process: C++ leaves them undefined, so no
  // kernel may have them.
  static const std::string compiler =
      "c++ -shared -fPIC -std=c++17 -O1 -w -fno-strict-aliasing -ffp-contract=off -fno-gnu-unique -fno-diagnostics-show-caret "
      "-fsanitize=signed-integer-overflow,integer-divide-by-zero,shift -fsanitize-undefined-trap-on-error";
  const bool complete = program.source.find("fake_launch") != std::string::npos;
  const auto text = std::string(complete ? "" : shim) + "#line 1 \"" + program.name + "\"\n" + program.source;
  const auto library = kernelFolder() + "/" + std::to_string(std::hash<std::string>{}(compiler + withIncluded(text))) + ".so";
  if (access(library.c_str(), R_OK) != 0) {
    static std::atomic<int> serial{0};
    const auto base = library + "." + std::to_string(getpid()) + "-" + std::to_string(serial++);
    std::ofstream(base + ".cpp") << text;
    // The shell removes the files even if this process ends meanwhile.
    const auto quoted = [&](const std::string &suffix) { return " '" + base + suffix + "' "; };
    const auto command = compiler + quoted(".cpp") + "-o" + quoted(".tmp") + "2>&1 && mv" + quoted(".tmp") + "'" + library + "'; status=$?; rm -f" +
                         quoted(".cpp") + quoted(".tmp") + "; exit $status";
    FILE *pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return 1;
    char buffer[4096];
    std::string output;
    while (fgets(buffer, sizeof buffer, pipe) != nullptr) output += buffer;
    const int status = pclose(pipe);
    program.log = withPlacesOfNvrtc(output);
    if (status != 0) return 6;
  }
  bytes = contentsOf(library);
  return 0;
}

} // namespace

EXPORT int nvrtcVersion(int *major, int *minor) {
  INJECTED("nvrtcVersion");
  *major = 13;
  *minor = 0;
  return 0;
}
EXPORT const char *nvrtcGetErrorString(int) { return "NVRTC_ERROR"; }
EXPORT int nvrtcCreateProgram(FakeProgram **program, const char *source, const char *name, int, const char *const *,
                              const char *const *) {
  INJECTED("nvrtcCreateProgram");
  *program = new FakeProgram{source, name, "", ""};
  return 0;
}
EXPORT int nvrtcDestroyProgram(FakeProgram **program) {
  INJECTED("nvrtcDestroyProgram");
  delete *program;
  *program = nullptr;
  return 0;
}
/// As NVRTC 13.0 does at the start of a compilation: the handlers come back without their flags.
void takeSignalsForAMoment() {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  const auto end = [](int taken) {
    signal(taken, SIG_DFL);
    raise(taken);
  };
  for (const int taken : {SIGINT, SIGTERM}) signal(taken, signal(taken, end));
}
/// As in NVRTC, a compilation does not survive the destructors that run when the process exits.
struct Compilations {
  std::atomic<int> running{0};
  ~Compilations() {
    if (running > 0) std::abort();
  }
} compilations;
struct Compilation {
  Compilation() { compilations.running++; }
  ~Compilation() { compilations.running--; }
};
EXPORT int nvrtcCompileProgram(FakeProgram *program, int, const char *const *) {
  const Compilation compilation;
  takeSignalsForAMoment();
  usleep(static_cast<useconds_t>(1000 * setting("FAKE_NVRTC_MS", 0)));
  if (const int failure = injectedFailure("nvrtcCompileProgram")) {
    // NVRTC_ERROR_INVALID_OPTION is what an NVRTC says that is older than the GPU.
    program->log = failure == 5 ? "nvrtc: error: invalid value for --gpu-architecture (-arch)\n" : "error of the fake NVRTC\n";
    return failure;
  }
  if (program->name.front() == '-') {  // as NVRTC does
    program->log = "Command-line error: invalid option: " + program->name + "\n";
    return 6;
  }
  std::string library;
  if (const int failure = makeLibrary(*program, library)) return failure;
  std::ostringstream image;
  static std::atomic<int> serial{0};
  image << "FAKE " << getpid() << "-" << serial++ << " " << library.size();
  const auto &source = program->source;
  const std::string announcement = "// fake-entry: ";
  if (const auto told = source.find(announcement); told != std::string::npos) {
    const auto from = told + announcement.size();
    image << " " << source.substr(from, source.find('\n', from) - from);
  } else {
    forEachSignature(source, "__global__ void ", [&](const std::string &name, std::size_t parameters) { image << " " << name << " " << parameters; });
  }
  program->image = image.str() + "\n" + library;
  return 0;
}
EXPORT int nvrtcGetProgramLogSize(FakeProgram *program, std::size_t *size) {
  INJECTED("nvrtcGetProgramLogSize");
  *size = program->log.size() + 1;
  return 0;
}
EXPORT int nvrtcGetProgramLog(FakeProgram *program, char *log) {
  INJECTED("nvrtcGetProgramLog");
  std::memcpy(log, program->log.c_str(), program->log.size() + 1);
  return 0;
}
EXPORT int nvrtcGetCUBINSize(FakeProgram *program, std::size_t *size) {
  INJECTED("nvrtcGetCUBINSize");
  *size = program->image.size() + 1;
  return 0;
}
EXPORT int nvrtcGetCUBIN(FakeProgram *program, char *image) {
  INJECTED("nvrtcGetCUBIN");
  std::memcpy(image, program->image.c_str(), program->image.size() + 1);
  return 0;
}
EXPORT int nvrtcGetPTXSize(FakeProgram *program, std::size_t *size) {
  INJECTED("nvrtcGetPTXSize");
  *size = program->image.size() + 1;
  return 0;
}
EXPORT int nvrtcGetPTX(FakeProgram *program, char *image) {
  INJECTED("nvrtcGetPTX");
  std::memcpy(image, program->image.c_str(), program->image.size() + 1);
  return 0;
}
