#pragma once
#include <napi.h>

#include <functional>
#include <memory>

#include "native_error.h"

namespace tandem {

/// Turns a job's result into a JavaScript value, on the JavaScript thread. An empty function stands for
/// `undefined`.
using Settle = std::function<Napi::Value(Napi::Env)>;
/// Runs on the worker thread; throws NativeError to reject.
using Work = std::function<Settle()>;

/// One native thread with a FIFO of jobs. Jobs never run on the JavaScript thread or in libuv's pool.
/// Promises settle through a thread-safe function that keeps the process alive only while a job is pending,
/// so that an idle process exits. Work that is queued when the Worker is destroyed is still executed. When
/// the environment closes, or the Worker is abandoned, queued jobs are dropped and release what they hold.
class Worker {
public:
  /// Throws NativeError `out-of-memory` if the operating system cannot start a thread.
  Worker(Napi::Env env, const char *name);
  ~Worker();
  Worker(const Worker &) = delete;
  Worker &operator=(const Worker &) = delete;

  /// Queues `work` for a call from JavaScript. The arguments stay referenced until the promise settles, since
  /// the job may access their memory.
  Napi::Promise submit(const Napi::CallbackInfo &info, Work work);
  /// Like `submit`, for work that decides itself when the promise settles: it calls `finish` once, on this
  /// thread, immediately or later.
  using Finish = std::function<void(const NativeError *error)>;
  Napi::Promise submitLater(const Napi::CallbackInfo &info, std::function<void(Finish)> work);
  /// Returns a function that executes a message on JavaScript's thread, in order with the promises that
  /// settle. It outlives the Worker, and does not keep the process alive.
  std::function<void(std::function<void(Napi::Env)>)> teller() const;
  /// Queues work without waiting for it; its errors are dropped. JavaScript thread only.
  void post(std::function<void()> work);
  /// The job in flight may never end: after this call neither the process nor its exit waits for it. If it
  /// does end, posted work still runs, and jobs reject with `group-lost`. JavaScript thread only.
  void abandon(Napi::Env env);
  /// Returns a function that queues like `post`, from any thread, and without keeping the Worker alive; it
  /// returns false once the thread has ended. It outlives the Worker.
  std::function<bool(std::function<void()>)> poster() const;
  /// Called from a job: calls `rest`, on this thread, whenever nothing has been queued for a while.
  void onRest(std::function<void()> rest);
  /// Returns a function that is true once the environment closes or the Worker is abandoned; long jobs then
  /// end early. It outlives the Worker.
  std::function<bool()> stopping() const;

private:
  struct State;
  std::shared_ptr<State> state_;
};

/// To be called when the process begins to exit. If jobs are in flight then, it ends without the destructors of
/// libraries: these would destroy what the jobs use inside of NVRTC and the driver.
void endWithJobs();

/// A promise rejected with the error.
Napi::Promise rejected(Napi::Env env, const NativeError &error);

} // namespace tandem
