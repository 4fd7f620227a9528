// Functions as jobs of a Worker.
#pragma once
#include "js_values.h"
#include "worker.h"

namespace tandem {

/// A job that calls `function` with arguments of these types, which are read from the call now; the result is
/// returned to JavaScript.
template <typename... Parameters, typename Function> Work workOf(const Napi::CallbackInfo &info, Function function) {
  auto arguments = argumentsOf<std::decay_t<Parameters>...>(info, std::index_sequence_for<Parameters...>());
  return [function = std::move(function), arguments = std::move(arguments)]() -> Settle {
    if constexpr (std::is_void_v<decltype(std::apply(function, arguments))>) {
      std::apply(function, arguments);
      return nullptr;
    } else {
      return [result = std::apply(function, arguments)](Napi::Env env) { return toJs(env, result); };
    }
  };
}

/// The same with the types of the function's parameters.
template <typename Result, typename... Parameters>
Work workOf(const Napi::CallbackInfo &info, Result (*function)(Parameters...)) {
  return workOf<Parameters...>(info, [function](const auto &...arguments) { return function(arguments...); });
}

} // namespace tandem
