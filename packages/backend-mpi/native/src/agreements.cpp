// Gathers of all ranks' messages, and runs that begin and end with a gather.
#include <algorithm>

#include "tandem_launcher.h"
#include "session.h"
#include "session_values.h"

namespace tandem {

namespace {

struct RankMessage {
  int rank;
  std::string message;
  double number;
  NAMED_MEMBERS(rank, message, number)
};

Napi::Value sayingsValue(Napi::Env env, const Sayings &sayings) {
  std::vector<RankMessage> messages;
  for (const auto &[text, saying] : sayings) messages.push_back({saying.rank, text, saying.number});
  std::sort(messages.begin(), messages.end(), [](const auto &a, const auto &b) { return a.rank < b.rank; });
  return toJs(env, messages);
}

} // namespace

Engine::GatherSettle Session::gathered(const Napi::Promise::Deferred &deferred) {
  return [this, post = post_, deferred](const Sayings *result, const Failure *failure) {
    post([this, deferred, sayings = result == nullptr ? Sayings{} : *result, copy = copied(failure)](Napi::Env env) {
      queue_.settled(env);
      if (copy) deferred.Reject(errorOf(env, copy->code, copy->message).Value());
      else deferred.Resolve(sayingsValue(env, sayings));
    });
  };
}

/// group, key, text, number | undefined, whether it takes a turn | undefined → Promise<[{ rank, message, number }]>:
/// each text once, ordered by rank
Napi::Value Session::gather(const Napi::CallbackInfo &info) {
  const auto env = info.Env();
  auto &session = of(info);
  auto &engine = session.engine(env);
  const auto deferred = Napi::Promise::Deferred::New(env);
  const double number = info[3].IsUndefined() ? 0 : info[3].As<Napi::Number>().DoubleValue();
  session.queue_.expect(env);
  engine.gather(keyOf(info), info[2].As<Napi::String>(), number, info[4].ToBoolean(), session.gathered(deferred));
  return deferred.Promise();
}

/// group, key
Napi::Value Session::endTurn(const Napi::CallbackInfo &info) {
  const auto env = info.Env();
  of(info).engine(env).endTurn(keyOf(info));
  return env.Undefined();
}

/// A run between two gathers, which native code starts and ends. The session may be destroyed before it ends.
struct Session::AgreedRun {
  /// For the JavaScript thread.
  Session *session;
  JsQueue::Poster post;
  /// Expired once nothing waits for the run any more.
  std::weak_ptr<Engine> engine;
  Key start;
  Key end;
  std::string endText;
  const TandemLauncher *launcher;
};

/// Settles `ended` when the run is over on this rank or does not begin.
void Session::settleAgreedRun(const AgreedRun &run, std::function<Napi::Value(Napi::Env)> value, const Failure *failure) {
  run.post([session = run.session, start = run.start, value = std::move(value), copy = copied(failure)](Napi::Env env) {
    session->queue_.settled(env);
    const auto kept = session->agreed_.extract(start);
    const auto &ended = kept.mapped().ended;
    if (copy) ended.Reject(errorOf(env, copy->code, copy->message).Value());
    else ended.Resolve(value(env));
  });
}

void Session::agreedRunDone(void *context, const TandemLaunchEnd *end) {
  const std::shared_ptr<const AgreedRun> run(static_cast<AgreedRun *>(context));
  const auto engine = run->engine.lock();
  if (!engine) return;
  engine->endTurn(run->start);
  if (end->error != nullptr) {
    settleAgreedRun(*run, [reason = std::string(end->error), code = std::string(end->code), result = end->result](Napi::Env env) {
      auto error = errorOf(env, code, reason).Value();
      error.Set("result", result);
      auto value = Napi::Object::New(env);
      value.Set("error", error);
      return value;
    });
    return;
  }
  engine->gather(run->end, run->endText, end->seconds, false, [run](const Sayings *result, const Failure *failure) {
    const auto said = [sayings = result == nullptr ? Sayings{} : *result](Napi::Env env) {
      auto value = Napi::Object::New(env);
      value.Set("said", sayingsValue(env, sayings));
      return value;
    };
    settleAgreedRun(*run, said, failure);
  });
}

/// group, key, text, key of the end, text of the end, an external TandemLauncher → { started, ended }. If all
/// ranks send the first text, the launcher starts a run, when its turn comes. At its end, its turn ends, and this
/// rank sends the second text with the run's seconds. `started` is a promise as of gather; `ended` resolves to { said }, to { error } if the
/// run fails here, and to undefined if it does not begin.
Napi::Value Session::runAgreed(const Napi::CallbackInfo &info) {
  const auto env = info.Env();
  auto &session = of(info);
  auto &engine = session.engine(env);
  const auto start = keyOf(info);
  const auto *launcher = launcherOf(info[5]);
  const auto started = Napi::Promise::Deferred::New(env);
  const auto ended = Napi::Promise::Deferred::New(env);
  session.agreed_.try_emplace(start, Agreed{ended, Napi::Persistent(info[5].As<Napi::Object>())});
  session.queue_.expect(env);
  session.queue_.expect(env);
  const AgreedRun run{&session, session.post_, session.engine_, start, {start.group, fromJs<std::uint64_t>(info[3])}, info[4].As<Napi::String>(), launcher};
  engine.gather(start, info[2].As<Napi::String>(), 0, true, [run, settle = session.gathered(started)](const Sayings *result, const Failure *failure) {
    if (result != nullptr && result->size() == 1) run.launcher->launch(run.launcher->self, agreedRunDone, new AgreedRun(run));
    else settleAgreedRun(run, [](Napi::Env env) { return env.Undefined(); });
    settle(result, failure);
  });
  auto value = Napi::Object::New(env);
  value.Set("started", started.Promise());
  value.Set("ended", ended.Promise());
  return value;
}

} // namespace tandem
