#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "js_types.h"

namespace tandem::nvrtc {

struct Request {
  std::string source;
  /// The name of the source in log lines.
  std::string name;
  std::vector<std::string> options;
  NAMED_MEMBERS(source, name, options)
};

struct Outcome {
  bool compiled = false;
  std::string log;
  /// Empty if NVRTC does not keep it.
  std::string ptx;
  /// A cubin; empty for a virtual architecture.
  std::vector<std::uint8_t> cubin;
  NAMED_MEMBERS(compiled, log, ptx, cubin)
};

/// The major and minor version of the first of `libraries` that loads; list the newest first. Throws
/// NativeError `unsupported` if none loads.
std::vector<int> version(const std::vector<std::string> &libraries);
/// Blocks for the whole compilation; callable from any thread. A program that does not compile is an outcome,
/// not an exception.
Outcome compile(const std::vector<std::string> &libraries, const Request &request);

} // namespace tandem::nvrtc
