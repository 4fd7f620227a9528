#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tandem::nvrtc {

struct Request {
  /// Library names or paths to try, newest first.
  std::vector<std::string> libraries;
  std::string source;
  /// What log lines call the source.
  std::string name;
  std::vector<std::string> options;
};

struct Outcome {
  bool compiled = false;
  std::string log;
  /// A cubin, or PTX for a virtual architecture.
  std::vector<std::uint8_t> image;
};

/// Major and minor. Throws NativeError `unsupported` when no library loads.
std::pair<int, int> version(const std::vector<std::string> &libraries);
/// Blocks for the whole compilation; any thread. A program that does not compile is an outcome, not an exception.
Outcome compile(const Request &request);

} // namespace tandem::nvrtc
