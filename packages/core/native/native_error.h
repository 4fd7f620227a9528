#pragma once
#include <stdexcept>
#include <string>

namespace tandem {

/// The error that a job rejects with. `code` is one of GpuErrorCode, "cuda" for a driver result that TypeScript
/// classifies, "peer-lost" where another process cannot go on, or "group-lost" where this group alone cannot.
struct NativeError : std::runtime_error {
  NativeError(std::string code, const std::string &message, int result = 0)
      : std::runtime_error(message), code(std::move(code)), result(result) {}
  std::string code;
  /// The driver's result; 0 when no driver call failed.
  int result;
};

/// The exception that is being handled, whatever it is, as an error: call it in a `catch (...)`.
NativeError currentError();

} // namespace tandem
