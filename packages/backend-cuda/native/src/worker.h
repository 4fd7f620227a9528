#pragma once
#include <napi.h>

#include <functional>
#include <memory>

#include "native_error.h"

namespace tandem {

/// Turns a job's result into a JavaScript value, on the JavaScript thread. An empty one stands for
/// `undefined`.
using Settle = std::function<Napi::Value(Napi::Env)>;
/// Runs on the worker thread; throws NativeError to reject.
using Work = std::function<Settle()>;

/// One native thread with a FIFO of jobs. Jobs never run on the JavaScript thread nor on libuv's pool.
/// Promises settle through a thread-safe function that keeps the process alive only while a job is pending,
/// so that an idle process exits. Work that is queued when the Worker is destroyed is still carried out; when
/// the environment closes, or the Worker is abandoned, queued jobs are not, and let go of what they hold.
class Worker {
public:
  /// Throws NativeError `out-of-memory` where the operating system starts no thread.
  Worker(Napi::Env env, const char *name);
  ~Worker();
  Worker(const Worker &) = delete;
  Worker &operator=(const Worker &) = delete;

  /// Queues `work` for a call from JavaScript. The arguments stay referenced until the promise settles: the
  /// job may access their memory.
  Napi::Promise submit(const Napi::CallbackInfo &info, Work work);
  /// As `submit`, of work that says itself when the promise settles: it calls `finish` once, on this thread,
  /// then or later.
  using Finish = std::function<void(const NativeError *error)>;
  Napi::Promise submitLater(const Napi::CallbackInfo &info, std::function<void(Finish)> work);
  /// Returns a function that has a message carried out on JavaScript's thread, in order with the promises
  /// that settle. It outlives the Worker, and does not keep the process alive.
  std::function<void(std::function<void(Napi::Env)>)> teller() const;
  /// Queues work that nobody waits for; its errors are dropped. JavaScript thread only.
  void post(std::function<void()> work);
  /// The job in flight may never end: from now on neither the process nor its exit waits for it. Should it
  /// end, what is posted still runs, and jobs reject with `group-lost`. JavaScript thread only.
  void abandon(Napi::Env env);
  /// Queues like `post`, from any thread, and without keeping the Worker; false once its thread has ended.
  /// Outlives the Worker.
  std::function<bool(std::function<void()>)> poster() const;
  /// From a job: calls `rest`, on its thread, whenever nothing has been queued for a while.
  void onRest(std::function<void()> rest);
  /// Returns a function that is true once the environment closes or the Worker is abandoned: long jobs end
  /// early then. It outlives the Worker.
  std::function<bool()> stopping() const;

private:
  struct State;
  std::shared_ptr<State> state_;
};

/// A promise that is rejected with the error.
Napi::Promise rejected(Napi::Env env, const NativeError &error);

} // namespace tandem
