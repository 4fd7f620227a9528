#pragma once
#include <cerrno>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace tandem {

/// The error that a call or a job rejects with. `code` is one of core's GpuErrorCode, or one that the
/// package's TypeScript classifies: backend-cuda has "cuda" for a driver result, "peer-lost" if another
/// process cannot continue, and "group-lost" if only this group cannot.
struct NativeError : std::runtime_error {
  NativeError(std::string code, const std::string &message, int result = 0)
      : std::runtime_error(message), code(std::move(code)), result(result) {}
  std::string code;
  /// The driver's result; 0 when no driver call failed.
  int result;
};

/// The exception that is being handled, whatever it is, as an error: call it in a `catch (...)`.
inline NativeError currentError() {
  try {
    throw;
  } catch (const NativeError &error) {
    return error;
  } catch (const std::bad_alloc &) {
    return {"out-of-memory", "The host has no memory left."};
  } catch (const std::system_error &error) {
    // By number: the exception may come from a library that has a C++ library of its own, and so other
    // categories of errors.
    if (error.code().value() != EAGAIN) return {"driver", error.what()};
    return {"out-of-memory", "The operating system cannot start a thread: " + error.code().message() + "."};
  } catch (const std::exception &error) {
    return {"driver", error.what()};
  } catch (...) {
    return {"driver", "An unknown native error occurred."};
  }
}

} // namespace tandem
