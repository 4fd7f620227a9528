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

/// Nodes whose memory stays referenced as long as JavaScript holds the handle or a run uses it.
struct PreparedNodes {
  std::vector<NodeSpec> nodes;
  std::vector<Napi::ObjectReference> memory;
};

/// MPI's state is one a process: so is this. The functions are the addon's exports; src/native-addon.ts
/// declares their types.
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
  /// What tells JavaScript that a group is lost. Any thread.
  Engine::Lost lost();
  /// A promise, and what settles it on any thread.
  std::pair<Napi::Promise, Engine::Settle> awaited(Napi::Env env);

  /// What a run holds of JavaScript; lives and dies on its thread.
  struct Running {
    Napi::Promise::Deferred deferred;
    Napi::FunctionReference issue;
    Napi::FunctionReference failed;
    /// Of segments that native code starts; other packages own what they hold.
    std::vector<Napi::ObjectReference> launchers;
    std::shared_ptr<PreparedNodes> prepared;
  };

  struct AgreedRun;
  /// What such a run holds of JavaScript.
  struct Agreed {
    Napi::Promise::Deferred ended;
    /// Another package owns what it holds.
    Napi::ObjectReference launcher;
  };
  static void settleAgreedRun(const AgreedRun &run, std::function<Napi::Value(Napi::Env)> value, const Failure *failure = nullptr);
  static void agreedRunDone(void *context, const TandemLaunchEnd *end);
  /// Settles the promise of a gather. Any thread.
  Engine::GatherSettle gathered(const Napi::Promise::Deferred &deferred);

  JsQueue queue_;
  /// Threads that the session does not outlive have copies. What they post may refer to the session.
  const JsQueue::Poster post_;
  std::map<Key, Running> running_;
  std::map<Key, Agreed> agreed_;
  std::map<Key, Napi::ObjectReference> delivered_;
  std::shared_ptr<Engine> engine_;
  Descriptor listener_;
  // Ended before the engine that it tells of failures.
  std::unique_ptr<Liveness> liveness_;
  Napi::FunctionReference onLost_;
  Napi::FunctionReference onWaiting_;
};

} // namespace tandem
