#include "worker.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

#include "js_values.h"

namespace tandem {

namespace {

/// Threads that are in a job.
std::atomic<int> busyThreads{0};

/// Programs that are run again and again leave shorter pauses.
constexpr auto restTime = std::chrono::milliseconds(50);

struct Job {
  /// Without a promise, what the thread has to say.
  std::function<void(Napi::Env)> message;
  Work work;
  std::vector<Napi::ObjectReference> kept;
  std::optional<Napi::Promise::Deferred> deferred;
  Settle settle;
  std::unique_ptr<NativeError> error;
};

} // namespace

struct Worker::State : std::enable_shared_from_this<Worker::State> {
  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable ended;
  std::deque<std::function<void()>> queue;
  /// The environment closes: nobody can receive a promise, and the thread ends when the queue is empty.
  std::atomic<bool> stop{false};
  /// The Worker is gone: the thread ends when the queue is empty.
  bool last = false;
  bool threadEnded = false;
  /// Nobody waits for the thread any more, and jobs reject. The thread goes on with what is posted, so that
  /// all is freed once the last job ends.
  std::atomic<bool> abandoned{false};
  /// Pending promises; JavaScript thread only.
  std::size_t pending = 0;
  napi_threadsafe_function settled = nullptr;
  /// The Worker is gone: the last promise to settle releases the thread-safe function.
  bool released = false;
  /// Called by the thread alone, which sets it too.
  std::function<void()> rest;
  /// Kept until the thread-safe function is finalized.
  std::shared_ptr<State> self;

  void loop() {
    bool rested = true;
    const auto called = [this] { return stop.load() || last || !queue.empty(); };
    // Takes everything that is queued at once: short jobs arrive faster than the mutex passes between
    // threads.
    std::deque<std::function<void()>> taken;
    for (;;) {
      {
        std::unique_lock lock(mutex);
        if (!rested && rest && !wake.wait_for(lock, restTime, called)) {
          lock.unlock();
          rest();
          rested = true;
          continue;
        }
        wake.wait(lock, called);
        // After a stop, posted work (releases) still runs; jobs whose promises nobody can receive do not.
        if (queue.empty()) {
          threadEnded = true;
          ended.notify_all();
          return;
        }
        taken.swap(queue);
      }
      busyThreads++;
      for (auto &work : taken) std::exchange(work, nullptr)();
      taken.clear();
      busyThreads--;
      rested = false;
    }
  }

  /// Whether jobs reject, and long ones end early.
  bool ending() const { return stop.load() || abandoned.load(); }

  /// False once the thread has ended.
  bool enqueue(std::function<void()> work) {
    {
      std::lock_guard lock(mutex);
      if (threadEnded) return false;
      queue.push_back(std::move(work));
    }
    wake.notify_one();
    return true;
  }

  bool post(std::function<void()> work) {
    return enqueue([work = std::move(work)] {
      try {
        work();
      } catch (...) {
      }
    });
  }

  /// On the worker thread.
  void carryOut(Job *job) {
    try {
      if (ending()) throw NativeError("group-lost", "Earlier work did not finish in time.");
      job->settle = job->work();
    } catch (...) {
      job->error = std::make_unique<NativeError>(currentError());
    }
    job->work = nullptr;
    deliver(job);
  }

  /// The call fails only while the environment closes. The job then leaks on purpose: its references belong
  /// to that environment.
  void deliver(Job *job) {
    std::lock_guard lock(mutex);
    if (settled != nullptr) napi_call_threadsafe_function(settled, job, napi_tsfn_nonblocking);
  }

  void settle(Napi::Env env, std::unique_ptr<Job> job) {
    if (job->message) {
      Napi::HandleScope scope(env);
      job->message(env);
      return;
    }
    if (--pending == 0) {
      napi_unref_threadsafe_function(env, settled);
      if (released) napi_release_threadsafe_function(settled, napi_tsfn_release);
    }
    Napi::HandleScope scope(env);
    if (job->error) {
      job->deferred->Reject(errorOf(env, *job->error).Value());
      return;
    }
    try {
      job->deferred->Resolve(job->settle ? job->settle(env) : env.Undefined());
    } catch (const Napi::Error &error) {
      job->deferred->Reject(error.Value());
    } catch (...) {
      job->deferred->Reject(errorOf(env, currentError()).Value());
    }
  }

  static void callJs(napi_env env, napi_value, void *context, void *data) {
    std::unique_ptr<Job> job(static_cast<Job *>(data));
    if (env == nullptr) {
      job.release();
      return;
    }
    try {
      static_cast<State *>(context)->settle(Napi::Env(env), std::move(job));
    } catch (...) {
      // A terminating environment runs no more JavaScript; nothing may unwind into Node.
    }
  }

  void requestStop() {
    std::lock_guard lock(mutex);
    stop.store(true);
    wake.notify_all();
  }

  /// The environment closes (process exit, or a worker_threads thread ends): give the job in flight two
  /// seconds, then leave the thread behind, because a kernel that hangs cannot be stopped.
  static void cleanup(void *data) {
    auto *state = static_cast<State *>(data);
    state->requestStop();
    if (state->abandoned.load()) return;
    std::unique_lock lock(state->mutex);
    state->ended.wait_for(lock, std::chrono::seconds(2), [state] { return state->threadEnded; });
  }
};

Worker::Worker(Napi::Env env, const char *name) : state_(std::make_shared<State>()) {
  auto &state = *state_;
  // Created first, so that nothing is left behind if it fails. The thread holds the state, which outlives
  // this object if the environment closes during a job.
  try {
    std::thread([held = state_] { held->loop(); }).detach();
  } catch (const std::system_error &) {
    throw currentError();
  }
  state.self = state_;
  const auto resourceName = Napi::String::New(env, name);
  const auto finalized = [](napi_env env, void *, void *context) {
    auto *state = static_cast<State *>(context);
    napi_remove_env_cleanup_hook(env, State::cleanup, state);
    const auto self = std::move(state->self);
    std::lock_guard lock(state->mutex);
    state->settled = nullptr;
  };
  const napi_status status = napi_create_threadsafe_function(env, nullptr, nullptr, resourceName, 0, 1, nullptr, finalized,
                                                             &state, State::callJs, &state.settled);
  if (status != napi_ok) {
    state.requestStop();
    state.self.reset();
    throw Napi::Error::New(env, "The native worker could not be created.");
  }
  napi_unref_threadsafe_function(env, state.settled);
  napi_add_env_cleanup_hook(env, State::cleanup, &state);
}

Worker::~Worker() {
  {
    std::lock_guard lock(state_->mutex);
    state_->last = true;
    state_->wake.notify_all();
  }
  state_->released = true;
  if (state_->pending == 0 && state_->settled != nullptr) {
    napi_release_threadsafe_function(state_->settled, napi_tsfn_release);
  }
}

void Worker::onRest(std::function<void()> rest) { state_->rest = std::move(rest); }

void Worker::abandon(Napi::Env env) {
  state_->abandoned.store(true);
  napi_unref_threadsafe_function(env, state_->settled);
}

std::function<bool()> Worker::stopping() const {
  return [state = state_] { return state->ending(); };
}

std::function<bool(std::function<void()>)> Worker::poster() const {
  return [state = state_](std::function<void()> work) { return state->post(std::move(work)); };
}

std::function<void(std::function<void(Napi::Env)>)> Worker::teller() const {
  return [state = state_](std::function<void(Napi::Env)> message) {
    auto job = std::make_unique<Job>();
    job->message = std::move(message);
    state->deliver(job.release());
  };
}

Napi::Promise Worker::submitLater(const Napi::CallbackInfo &info, std::function<void(Finish)> work) {
  auto *job = new Job();
  job->deferred = Napi::Promise::Deferred::New(info.Env());
  job->kept.push_back(Napi::Persistent(info.This().As<Napi::Object>()));
  const auto promise = job->deferred->Promise();
  auto &state = *state_;
  if (state.pending++ == 0 && !state.abandoned.load()) napi_ref_threadsafe_function(info.Env(), state.settled);
  const auto finish = [held = state_, job](const NativeError *error) {
    if (error != nullptr) job->error = std::make_unique<NativeError>(*error);
    held->deliver(job);
  };
  const auto carryOut = [&state, work = std::move(work), finish] {
    const NativeError ended("group-lost", "Earlier work did not finish in time.");
    if (state.ending()) finish(&ended);
    else work(finish);
  };
  if (!state.enqueue(carryOut)) carryOut();
  return promise;
}

Napi::Promise Worker::submit(const Napi::CallbackInfo &info, Work work) {
  auto job = std::make_unique<Job>();
  job->deferred = Napi::Promise::Deferred::New(info.Env());
  job->work = std::move(work);
  const auto keep = [&](const Napi::Value &value) {
    if (value.IsObject()) job->kept.push_back(Napi::Persistent(value.As<Napi::Object>()));
  };
  keep(info.This());
  for (std::size_t index = 0; index < info.Length(); ++index) keep(info[index]);
  const auto promise = job->deferred->Promise();
  auto &state = *state_;
  if (state.pending++ == 0 && !state.abandoned.load()) napi_ref_threadsafe_function(info.Env(), state.settled);
  const auto carryOut = [&state, job = job.release()] { state.carryOut(job); };
  // The thread has ended because its environment closes: the job rejects, and releases what it holds.
  if (!state.enqueue(carryOut)) carryOut();
  return promise;
}

void Worker::post(std::function<void()> work) { state_->post(std::move(work)); }

void endWithJobs() {
  if (busyThreads.load() == 0) return;
  on_exit(
      [](int status, void *) {
        if (busyThreads.load() == 0) return;
        std::fflush(nullptr);
        _exit(status);
      },
      nullptr);
}

Napi::Promise rejected(Napi::Env env, const NativeError &error) {
  const auto deferred = Napi::Promise::Deferred::New(env);
  deferred.Reject(errorOf(env, error).Value());
  return deferred.Promise();
}

} // namespace tandem
