#include "js_queue.h"

namespace tandem {

JsQueue::JsQueue(Napi::Env env) : state_(std::make_shared<State>()) {
  state_->self = state_;
  const auto finalized = [](napi_env, void *, void *context) {
    auto *state = static_cast<State *>(context);
    const auto self = std::move(state->self);
    std::lock_guard lock(state->mutex);
    state->function = nullptr;
  };
  const auto name = Napi::String::New(env, "tandem mpi");
  if (napi_create_threadsafe_function(env, nullptr, nullptr, name, 0, 1, nullptr, finalized, state_.get(), JsQueue::drain,
                                      &state_->function) != napi_ok) {
    throw Napi::Error::New(env, "The queue to JavaScript could not be created.");
  }
  napi_unref_threadsafe_function(env, state_->function);
}

JsQueue::Poster JsQueue::poster() const {
  return [state = state_](Call call) {
    std::lock_guard lock(state->mutex);
    if (state->function == nullptr) return;
    state->calls.push_back(std::move(call));
    if (state->scheduled) return;
    state->scheduled = true;
    napi_call_threadsafe_function(state->function, nullptr, napi_tsfn_nonblocking);
  };
}

void JsQueue::drain(napi_env env, napi_value, void *context, void *) {
  auto *state = static_cast<State *>(context);
  std::vector<Call> calls;
  {
    std::lock_guard lock(state->mutex);
    calls.swap(state->calls);
    state->scheduled = false;
  }
  if (env == nullptr) return;
  Napi::HandleScope scope(env);
  for (auto &call : calls) {
    try {
      call(Napi::Env(env));
    } catch (...) {
      // An environment that terminates no longer runs JavaScript, and no exception may unwind into Node.
    }
  }
}

void JsQueue::expect(Napi::Env env) {
  if (expected_++ == 0) napi_ref_threadsafe_function(env, state_->function);
}

void JsQueue::settled(Napi::Env env) {
  if (--expected_ == 0) napi_unref_threadsafe_function(env, state_->function);
}

} // namespace tandem
