// Arguments of the addon's functions, and what they give back.
#pragma once
#include <napi.h>

#include <optional>
#include <string>

#include "engine.h"

namespace tandem {

inline Napi::Error errorOf(Napi::Env env, const std::string &code, const std::string &message) {
  auto error = Napi::Error::New(env, message);
  error.Value().Set("nativeCode", code);
  return error;
}

inline std::uint64_t integerOf(const Napi::Value &value) {
  return static_cast<std::uint64_t>(value.As<Napi::Number>().DoubleValue());
}

inline Key keyOf(const Napi::CallbackInfo &info) { return {integerOf(info[0]), integerOf(info[1])}; }

inline std::optional<Failure> copied(const Failure *failure) {
  return failure == nullptr ? std::nullopt : std::optional(*failure);
}

} // namespace tandem
