// Conversions of the addon's arguments, results and errors.
#pragma once
#include <napi.h>

#include <optional>
#include <string>

#include "engine.h"
#include "js_values.h"
#include "tandem_launcher.h"

namespace tandem {

inline Napi::Error errorOf(Napi::Env env, const std::string &code, const std::string &message) {
  return errorOf(env, NativeError(code, message));
}

/// The launcher in an external value; throws `unsupported` if the backend that made it has another layout.
inline const TandemLauncher *launcherOf(const Napi::Value &value) {
  const auto *launcher = value.As<Napi::External<TandemLauncher>>().Data();
  if (launcher->version != tandemLauncherVersion)
    throw errorOf(value.Env(), "unsupported", "The backend passed to mpi() belongs to another version of Tandem.");
  return launcher;
}

inline Key keyOf(const Napi::CallbackInfo &info) { return {fromJs<std::uint64_t>(info[0]), fromJs<std::uint64_t>(info[1])}; }

inline std::optional<Failure> copied(const Failure *failure) {
  return failure == nullptr ? std::nullopt : std::optional(*failure);
}

} // namespace tandem
