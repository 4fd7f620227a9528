// An addon with one defect of each sort: what a sanitizer run must notice here, it would notice in the real
// addon.
#include <node_api.h>

#include <thread>

static int shared = 0;

static napi_value overflow(napi_env, napi_callback_info) {
  auto *bytes = new volatile char[16];
  bytes[16] = 1;
  delete[] bytes;
  return nullptr;
}

static napi_value shift(napi_env, napi_callback_info) {
  volatile int places = 40;
  shared = 1 << places;
  return nullptr;
}

static napi_value race(napi_env, napi_callback_info) {
  const auto count = [] {
    for (int turn = 0; turn < 1000; ++turn) *const_cast<volatile int *>(&shared) = turn;
  };
  std::thread first(count);
  std::thread second(count);
  first.join();
  second.join();
  return nullptr;
}

NAPI_MODULE_INIT() {
  napi_value function;
  napi_create_function(env, "overflow", NAPI_AUTO_LENGTH, overflow, nullptr, &function);
  napi_set_named_property(env, exports, "overflow", function);
  napi_create_function(env, "shift", NAPI_AUTO_LENGTH, shift, nullptr, &function);
  napi_set_named_property(env, exports, "shift", function);
  napi_create_function(env, "race", NAPI_AUTO_LENGTH, race, nullptr, &function);
  napi_set_named_property(env, exports, "race", function);
  return exports;
}
