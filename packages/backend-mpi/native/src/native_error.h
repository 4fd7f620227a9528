#pragma once
#include <stdexcept>
#include <string>

namespace tandem {

/// What a call rejects with: `code` is one of core's GpuErrorCode.
struct NativeError : std::runtime_error {
  NativeError(std::string code, const std::string &message) : std::runtime_error(message), code(std::move(code)) {}
  std::string code;
};

} // namespace tandem
