#pragma once
#include <stdexcept>
#include <string>

namespace tandem {

/// What a job rejects with. `code` is one of GpuErrorCode, or "cuda" for a driver result that TypeScript classifies.
struct NativeError : std::runtime_error {
  NativeError(std::string code, const std::string &message) : std::runtime_error(message), code(std::move(code)) {}
  std::string code;
  /// The driver's result, its name and the call that returned it; 0 and empty when no driver call failed.
  int result = 0;
  std::string resultName;
  std::string call;
  double askedByteLength = -1;
  double freeByteLength = -1;
};

} // namespace tandem
