#pragma once
#include <cerrno>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

namespace tandem {

/// What a call rejects with: `code` is one of core's GpuErrorCode.
struct NativeError : std::runtime_error {
  NativeError(std::string code, const std::string &message) : std::runtime_error(message), code(std::move(code)) {}
  std::string code;
};

/// The exception that is being handled, as what a call rejects with.
inline NativeError currentError() {
  try {
    throw;
  } catch (const NativeError &error) {
    return error;
  } catch (const std::bad_alloc &) {
    return {"out-of-memory", "The host has no memory left."};
  } catch (const std::system_error &error) {
    // By number: the exception may come from a library that has a C++ library of its own, and so other categories of errors.
    if (error.code().value() != EAGAIN) return {"driver", error.what()};
    return {"out-of-memory", "The operating system cannot start a thread: " + error.code().message() + "."};
  } catch (const std::exception &error) {
    return {"driver", error.what()};
  } catch (...) {
    return {"driver", "An unknown native error occurred."};
  }
}

} // namespace tandem
