#pragma once
#include <stdexcept>
#include <string>

namespace tandem {

/// What a job rejects with. `code` is one of GpuErrorCode, or "cuda" for a driver result that TypeScript classifies.
struct NativeError : std::runtime_error {
  NativeError(std::string code, const std::string &message) : std::runtime_error(message), code(std::move(code)) {}
  /// Says more about a failed driver call.
  NativeError(std::string code, const std::string &message, const NativeError &cause)
      : std::runtime_error(message), code(std::move(code)), result(cause.result), resultName(cause.resultName),
        call(cause.call) {}
  std::string code;
  /// The driver's result, its name and the call that returned it; 0 and empty when no driver call failed.
  int result = 0;
  std::string resultName;
  std::string call;
};

} // namespace tandem
