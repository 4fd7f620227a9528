#pragma once
#include <string>
#include <vector>

#include "cuda_api.h"
#include "native_error.h"

namespace tandem::cuda {

/// Opens the driver library, resolves every call and runs cuInit, once for each path and process; later calls
/// return the same driver. Throws NativeError `no-driver` with the names that were tried, or with both
/// versions if the driver is too old. Blocks up to a second.
const Driver &loadDriver(const std::vector<std::string> &candidates);

/// Throws NativeError "cuda", which names the function, for any result but success.
void check(const Driver &driver, Result result, const ImportEntry &function);
/// Calls a function of the driver and checks its result.
template <typename... Parameters, typename... Arguments>
void call(const Driver &driver, const Import<Result(Parameters...)> &function, Arguments... arguments) {
  check(driver, function(arguments...), function);
}

/// True once a fault has destroyed the process's contexts: nothing can run on any GPU of this process any
/// more.
bool contextsLost();
/// The reason, as a sentence fragment; empty while nothing is lost.
std::string contextsLostReason();
/// Records the loss when `result` is a fault that kills contexts; returns whether it is.
bool noteFault(Result result, const std::string &reason);

} // namespace tandem::cuda
