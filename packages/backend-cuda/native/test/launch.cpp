// What a test needs of the native code that starts launchers: `launch(launcher)` starts the work once, and
// `ends()` lists how the launches that have ended did: "done", or the code of the error.
#include <node_api.h>

#include <mutex>
#include <string>
#include <vector>

#include "../../../core/native/tandem_launcher.h"

static std::mutex mutex;
static std::vector<std::string> ended;

static void note(void *, const TandemLaunchEnd *end) {
  std::lock_guard lock(mutex);
  ended.push_back(end->error == nullptr ? "done" : end->code);
}

static napi_value launch(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value argument;
  void *launcher = nullptr;
  napi_get_cb_info(env, info, &count, &argument, nullptr, nullptr);
  napi_get_value_external(env, argument, &launcher);
  const auto *started = static_cast<TandemLauncher *>(launcher);
  started->launch(started->self, note, nullptr);
  return nullptr;
}

static napi_value ends(napi_env env, napi_callback_info) {
  std::lock_guard lock(mutex);
  napi_value list;
  napi_create_array(env, &list);
  for (std::size_t index = 0; index < ended.size(); ++index) {
    napi_value text;
    napi_create_string_utf8(env, ended[index].c_str(), NAPI_AUTO_LENGTH, &text);
    napi_set_element(env, list, static_cast<std::uint32_t>(index), text);
  }
  return list;
}

NAPI_MODULE_INIT() {
  for (const auto &[name, function] : {std::pair{"launch", launch}, std::pair{"ends", ends}}) {
    napi_value value;
    napi_create_function(env, name, NAPI_AUTO_LENGTH, function, nullptr, &value);
    napi_set_named_property(env, exports, name, value);
  }
  return exports;
}
