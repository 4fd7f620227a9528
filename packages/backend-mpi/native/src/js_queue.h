#pragma once
#include <napi.h>

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace tandem {

/// Passes calls from native threads to the JavaScript thread; calls that arrive close together share one turn
/// of the event loop. It keeps the process alive only while something is expected, so that an idle process
/// ends.
class JsQueue {
public:
  using Call = std::function<void(Napi::Env)>;

  explicit JsQueue(Napi::Env env);
  JsQueue(const JsQueue &) = delete;
  JsQueue &operator=(const JsQueue &) = delete;

  using Poster = std::function<void(Call)>;
  /// A function that queues calls from any thread. It outlives the queue: calls are dropped once the
  /// environment closes, so the objects that a call refers to exist whenever it runs.
  Poster poster() const;
  /// On the JavaScript thread: `expect` announces a call that will be posted, `settled` follows when it has
  /// run.
  void expect(Napi::Env env);
  void settled(Napi::Env env);

private:
  struct State {
    std::mutex mutex;
    std::vector<Call> calls;
    bool scheduled = false;
    napi_threadsafe_function function = nullptr;
    std::shared_ptr<State> self;
  };
  static void drain(napi_env env, napi_value, void *context, void *);

  std::shared_ptr<State> state_;
  std::size_t expected_ = 0;
};

} // namespace tandem
