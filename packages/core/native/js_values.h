// Arguments from JavaScript, and results and errors to it.
#pragma once
#include <napi.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "js_types.h"
#include "native_error.h"

namespace tandem {

template <typename> constexpr bool isVector = false;
template <typename Element> constexpr bool isVector<std::vector<Element>> = true;
template <typename> constexpr bool isOptional = false;
template <typename Value> constexpr bool isOptional<std::optional<Value>> = true;

/// Throws a JavaScript exception if the value has another type. Addresses and sizes are exact as numbers.
template <typename Type> Type fromJs(const Napi::Value &value) {
  if constexpr (std::is_same_v<Type, bool>) {
    return value.As<Napi::Boolean>();
  } else if constexpr (std::is_arithmetic_v<Type>) {
    return static_cast<Type>(value.As<Napi::Number>().DoubleValue());
  } else if constexpr (std::is_same_v<Type, std::string>) {
    return value.As<Napi::String>();
  } else if constexpr (std::is_same_v<Type, HostBytes>) {
    const auto array = value.As<Napi::Uint8Array>();
    return {const_cast<std::uint8_t *>(array.Data()), array.ByteLength()};
  } else if constexpr (std::is_same_v<Type, const std::int32_t *>) {
    return value.As<Napi::Int32Array>().Data();
  } else if constexpr (std::is_same_v<Type, std::vector<std::uint8_t>> || std::is_same_v<Type, std::vector<double>>) {
    const auto array = value.As<Napi::TypedArrayOf<typename Type::value_type>>();
    return Type(array.Data(), array.Data() + array.ElementLength());
  } else if constexpr (isVector<Type>) {
    const auto array = value.As<Napi::Array>();
    Type elements;
    for (std::uint32_t index = 0; index < array.Length(); ++index) {
      elements.push_back(fromJs<typename Type::value_type>(array.Get(index)));
    }
    return elements;
  } else if constexpr (isOptional<Type>) {
    if (value.IsUndefined()) return std::nullopt;
    return fromJs<typename Type::value_type>(value);
  } else {
    const auto object = value.As<Napi::Object>();
    Type result{};
    eachMember(result, [&](const std::string &name, auto &member) {
      member = fromJs<std::remove_reference_t<decltype(member)>>(object.Get(name));
    });
    return result;
  }
}

/// Members without a value are left out of an object.
template <typename Type> Napi::Value toJs(Napi::Env env, const Type &value) {
  if constexpr (std::is_same_v<Type, bool>) {
    return Napi::Boolean::New(env, value);
  } else if constexpr (std::is_arithmetic_v<Type>) {
    return Napi::Number::New(env, static_cast<double>(value));
  } else if constexpr (std::is_same_v<Type, std::string>) {
    return Napi::String::New(env, value);
  } else if constexpr (std::is_same_v<Type, std::vector<std::uint8_t>>) {
    auto array = Napi::Uint8Array::New(env, value.size());
    std::copy(value.begin(), value.end(), array.Data());
    return array;
  } else if constexpr (isVector<Type>) {
    auto array = Napi::Array::New(env, value.size());
    std::uint32_t index = 0;
    for (const auto &element : value) array.Set(index++, toJs<typename Type::value_type>(env, element));
    return array;
  } else if constexpr (isOptional<Type>) {
    return value ? toJs(env, *value) : env.Undefined();
  } else {
    auto object = Napi::Object::New(env);
    eachMember(value, [&](const std::string &name, const auto &member) {
      const auto converted = toJs(env, member);
      if (!converted.IsUndefined()) object.Set(name, converted);
    });
    return object;
  }
}

template <typename... Types, std::size_t... index>
std::tuple<Types...> argumentsOf(const Napi::CallbackInfo &info, std::index_sequence<index...>) {
  return {fromJs<Types>(info[index])...};
}

/// An error as JavaScript gets it: `nativeCode` is its code.
inline Napi::Error errorOf(Napi::Env env, const NativeError &error) {
  auto made = Napi::Error::New(env, error.what());
  made.Value().Set("nativeCode", error.code);
  made.Value().Set("result", error.result);
  return made;
}

} // namespace tandem
