#pragma once
#include <napi.h>

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "tandem_launcher.h"
#include "engine.h"
#include "js_queue.h"
#include "liveness.h"

namespace tandem {

/// Nodes, and references that keep their memory alive while JavaScript holds the handle or a run uses it.
struct PreparedNodes {
  std::vector<NodeSpec> nodes;
  std::vector<Napi::ObjectReference> memory;
};

/// A process has one MPI state, and so one session. The static functions are the addon's exports;
/// src/native-addon.ts declares their types.
class Session {
public:
  explicit Session(Napi::Env env) : queue_(env), post_(queue_.poster()) {}
  ~Session();
  static void define(Napi::Env env, Napi::Object exports);

private:
  static Session &of(const Napi::CallbackInfo &info);
  static Napi::Value describeLibrary(const Napi::CallbackInfo &info);
  static Napi::Value start(const Napi::CallbackInfo &info);
  static Napi::Value listen(const Napi::CallbackInfo &info);
  static Napi::Value watch(const Napi::CallbackInfo &info);
  static Napi::Value openGroup(const Napi::CallbackInfo &info);
  static Napi::Value closeGroup(const Napi::CallbackInfo &info);
  static Napi::Value gather(const Napi::CallbackInfo &info);
  static Napi::Value endTurn(const Napi::CallbackInfo &info);
  static Napi::Value runAgreed(const Napi::CallbackInfo &info);
  static Napi::Value deliver(const Napi::CallbackInfo &info);
  static Napi::Value prepare(const Napi::CallbackInfo &info);
  static Napi::Value run(const Napi::CallbackInfo &info);
  static Napi::Value segmentCompleted(const Napi::CallbackInfo &info);
  static Napi::Value endRun(const Napi::CallbackInfo &info);
  static Napi::Value abortRun(const Napi::CallbackInfo &info);
  static Napi::Value stayAwake(const Napi::CallbackInfo &info);
  static Napi::Value yieldCore(const Napi::CallbackInfo &info);
  static Napi::Value leave(const Napi::CallbackInfo &info);
  static Napi::Value sayWaiting(const Napi::CallbackInfo &info);
  static Napi::Value end(const Napi::CallbackInfo &info);
  static Napi::Value finalize(const Napi::CallbackInfo &info);
  static Napi::Value abort(const Napi::CallbackInfo &info);

  Engine &engine(Napi::Env env) const;
  /// A function that tells JavaScript that a group is lost. Any thread.
  Engine::Lost lost();
  /// A promise, and a function that settles it from any thread: with `value`, which is called on the
  /// JavaScript thread, unless there is a failure.
  std::pair<Napi::Promise, Engine::Settle> awaited(Napi::Env env, std::function<Napi::Value(Napi::Env)> value = {});

  /// The JavaScript values of a run; created and destroyed on the JavaScript thread.
  struct Running {
    Napi::Promise::Deferred deferred;
    Napi::FunctionReference issue;
    Napi::FunctionReference failed;
    /// Launchers of segments that native code starts; other packages own their contents.
    std::vector<Napi::ObjectReference> launchers;
    std::shared_ptr<PreparedNodes> prepared;
  };

  struct AgreedRun;
  /// The JavaScript values of an agreed run.
  struct Agreed {
    Napi::Promise::Deferred ended;
    /// Another package owns its contents.
    Napi::ObjectReference launcher;
  };
  static void settleAgreedRun(const AgreedRun &run, std::function<Napi::Value(Napi::Env)> value, const Failure *failure = nullptr);
  static void agreedRunDone(void *context, const TandemLaunchEnd *end);
  /// A function that settles the promise of a gather from any thread.
  Engine::GatherSettle gathered(const Napi::Promise::Deferred &deferred);

  JsQueue queue_;
  /// Threads that outlive the session have copies. Calls that they post may refer to the session.
  const JsQueue::Poster post_;
  std::map<Key, Running> running_;
  std::map<Key, Agreed> agreed_;
  std::map<Key, Napi::ObjectReference> delivered_;
  std::shared_ptr<Engine> engine_;
  Descriptor listener_;
  // Ended before the engine, to which it reports failures.
  std::unique_ptr<Liveness> liveness_;
  Napi::FunctionReference onLost_;
  Napi::FunctionReference onWaiting_;
};

} // namespace tandem
