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
  template <typename Self, typename Visit> static void eachMember(Self &self, Visit visit) {
    visit("source", self.source);
    visit("name", self.name);
    visit("options", self.options);
  }
};

struct Outcome {
  bool compiled = false;
  std::string log;
  /// A cubin, or PTX for a virtual architecture.
  std::vector<std::uint8_t> image;
  template <typename Self, typename Visit> static void eachMember(Self &self, Visit visit) {
    visit("compiled", self.compiled);
    visit("log", self.log);
    visit("image", self.image);
  }
};

/// The major and minor version of the first of `libraries` that loads; list the newest first. Throws
/// NativeError `unsupported` if none loads.
std::vector<int> version(const std::vector<std::string> &libraries);
/// Blocks for the whole compilation; callable from any thread. A program that does not compile is an outcome,
/// not an exception.
Outcome compile(const std::vector<std::string> &libraries, const Request &request);

} // namespace tandem::nvrtc
