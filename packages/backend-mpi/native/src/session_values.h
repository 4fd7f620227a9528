// Conversions of the addon's arguments, results and errors.
#pragma once
#include <napi.h>

#include <optional>
#include <string>

#include "engine.h"
#include "js_values.h"

namespace tandem {

inline Napi::Error errorOf(Napi::Env env, const std::string &code, const std::string &message) {
  return errorOf(env, NativeError(code, message));
}

inline Key keyOf(const Napi::CallbackInfo &info) { return {fromJs<std::uint64_t>(info[0]), fromJs<std::uint64_t>(info[1])}; }

inline std::optional<Failure> copied(const Failure *failure) {
  return failure == nullptr ? std::nullopt : std::optional(*failure);
}

} // namespace tandem
