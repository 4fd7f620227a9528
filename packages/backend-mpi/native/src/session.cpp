#include "session.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "tandem_launcher.h"
#include "native_error.h"
#include "session_values.h"

namespace tandem {

namespace {

using Prepared = std::shared_ptr<PreparedNodes>;

struct LibraryDescription {
  std::string path, family, version;
  std::optional<bool> gpuAware;
  NAMED_MEMBERS(path, family, version, gpuAware)
};

struct Started {
  int rank, size;
  std::optional<mpi::GpuSupport> gpuAware;
  NAMED_MEMBERS(rank, size, gpuAware)
};

struct Listening {
  std::uint16_t port;
  std::vector<std::string> addresses;
  NAMED_MEMBERS(port, addresses)
};

} // namespace

Session &Session::of(const Napi::CallbackInfo &info) { return *info.Env().GetInstanceData<Session>(); }

Engine &Session::engine(Napi::Env env) const {
  if (!engine_) throw errorOf(env, "validation", "MPI has not been started.");
  return *engine_;
}

Session::~Session() {
  // Destroyed first, because it reports failures to the engine.
  liveness_.reset();
  if (engine_) engine_->close();
}

Engine::Lost Session::lost() {
  return [this, post = post_](std::uint64_t group, const Failure &failure) {
    post([this, group, failure](Napi::Env env) {
      onLost_.Call({group == Engine::everyGroup ? env.Undefined() : Napi::Number::New(env, static_cast<double>(group)),
                    Napi::String::New(env, failure.code), Napi::String::New(env, failure.message)});
    });
  };
}

std::pair<Napi::Promise, Engine::Settle> Session::awaited(Napi::Env env, std::function<Napi::Value(Napi::Env)> value) {
  const auto deferred = Napi::Promise::Deferred::New(env);
  queue_.expect(env);
  return {deferred.Promise(), [this, post = post_, deferred, value = std::move(value)](const Failure *failure) {
            post([this, deferred, value, copy = copied(failure)](Napi::Env env) {
              queue_.settled(env);
              if (copy) deferred.Reject(errorOf(env, copy->code, copy->message).Value());
              else deferred.Resolve(value ? value(env) : env.Undefined());
            });
          }};
}

/// candidates → { path, family, version, gpuAware? }; opens the library without starting MPI
Napi::Value Session::describeLibrary(const Napi::CallbackInfo &info) {
  try {
    const auto &library = mpi::openLibrary(fromJs<std::vector<std::string>>(info[0]));
    return toJs(info.Env(), LibraryDescription{library.path, mpi::familyName(library.family), library.version, library.gpuAware});
  } catch (const NativeError &error) {
    throw errorOf(info.Env(), error);
  }
}

/// candidates, onLost(group | undefined, code, message), onWaiting(rank, text) → Promise<{ rank, size,
/// gpuAware? }>
Napi::Value Session::start(const Napi::CallbackInfo &info) {
  const auto env = info.Env();
  auto &session = of(info);
  if (session.engine_) throw errorOf(env, "validation", "MPI has already been started.");
  session.onLost_ = Napi::Persistent(info[1].As<Napi::Function>());
  session.onWaiting_ = Napi::Persistent(info[2].As<Napi::Function>());
  const auto [promise, settle] = session.awaited(env, [&session](Napi::Env env) {
    const auto &engine = *session.engine_;
    return toJs(env, Started{engine.rank(), engine.size(), engine.gpuSupport()});
  });
  try {
    const auto engine = std::make_shared<Engine>(mpi::openLibrary(fromJs<std::vector<std::string>>(info[0])), session.lost());
    engine->start(settle);
    session.engine_ = engine;
  } catch (const NativeError &error) {
    session.queue_.settled(env);
    throw errorOf(env, error);
  }
  return promise;
}

/// → { port, addresses }: where rank 0 accepts the other ranks' connections
Napi::Value Session::listen(const Napi::CallbackInfo &info) {
  const auto env = info.Env();
  try {
    std::uint16_t port = 0;
    of(info).listener_ = Liveness::listen(port);
    return toJs(env, Listening{port, localAddresses()});
  } catch (const NativeError &error) {
    throw errorOf(env, error);
  }
}

/// { names, token, addresses, port, deathDelayMilliseconds } → Promise<undefined>
Napi::Value Session::watch(const Napi::CallbackInfo &info) {
  const auto env = info.Env();
  auto &session = of(info);
  auto &engine = session.engine(env);
  auto options = fromJs<Liveness::Options>(info[0]);
  options.rank = engine.rank();
  options.size = engine.size();
  const auto [promise, settle] = session.awaited(env);
  options.connected = [settle](const std::string &problem) {
    const Failure failure{"device-lost", problem};
    settle(problem.empty() ? nullptr : &failure);
  };
  engine.setNames(options.names);
  options.lost = [engine = session.engine_, lost = session.lost()](const std::string &text) {
    const Failure failure{"device-lost", text};
    engine->fail(failure);
    lost(Engine::everyGroup, failure);
  };
  options.left = [engine = session.engine_](int rank, std::uint64_t group, const std::string &code, const std::string &reason) {
    engine->rankLeft(rank, group, {code, reason});
  };
  options.waiting = [&session, post = session.post_](int rank, const std::string &text) {
    post([&session, rank, text](Napi::Env env) {
      session.onWaiting_.Call({Napi::Number::New(env, rank), Napi::String::New(env, text)});
    });
  };
  try {
    session.liveness_ = std::make_unique<Liveness>(std::move(options), std::move(session.listener_));
  } catch (const NativeError &error) {
    const Failure failure{error.code, error.what()};
    settle(&failure);
  }
  return promise;
}

/// group → Promise<undefined>
Napi::Value Session::openGroup(const Napi::CallbackInfo &info) {
  auto &session = of(info);
  auto &engine = session.engine(info.Env());
  const auto [promise, settle] = session.awaited(info.Env());
  engine.openGroup(fromJs<std::uint64_t>(info[0]), settle);
  return promise;
}

/// group, clean
Napi::Value Session::closeGroup(const Napi::CallbackInfo &info) {
  of(info).engine(info.Env()).closeGroup(fromJs<std::uint64_t>(info[0]), info[1].ToBoolean());
  return info.Env().Undefined();
}

/// group, key, from, to (−1 for all), bytes → Promise<undefined>
Napi::Value Session::deliver(const Napi::CallbackInfo &info) {
  const auto env = info.Env();
  auto &session = of(info);
  auto &engine = session.engine(env);
  const auto key = keyOf(info);
  auto bytes = info[4].As<Napi::Uint8Array>();
  const MessageRegion region{reinterpret_cast<std::byte *>(bytes.Data()), 1, bytes.ByteLength(), bytes.ByteLength()};
  session.delivered_.insert_or_assign(key, Napi::Persistent(bytes.As<Napi::Object>()));
  // After a failure MPI may still write there: the memory stays.
  const auto [promise, settle] = session.awaited(env, [&session, key](Napi::Env env) {
    session.delivered_.erase(key);
    return env.Undefined();
  });
  engine.deliver(key, info[2].As<Napi::Number>(), info[3].As<Napi::Number>(), region, settle);
  return promise;
}

/// nodes → handle: [{ kind, peer, tag, memory, byteOffset, rows, rowByteLength, rowByteStride, after,
/// afterPrevious }]
Napi::Value Session::prepare(const Napi::CallbackInfo &info) {
  const auto env = info.Env();
  const auto list = info[0].As<Napi::Array>();
  const auto prepared = std::make_shared<PreparedNodes>();
  for (std::uint32_t index = 0; index < list.Length(); ++index) {
    const auto spec = list.Get(index).As<Napi::Object>();
    const std::string kind = spec.Get("kind").As<Napi::String>();
    NodeSpec node;
    node.after = fromJs<std::vector<std::uint32_t>>(spec.Get("after"));
    node.afterPrevious = fromJs<std::vector<std::uint32_t>>(spec.Get("afterPrevious"));
    for (const auto *edges : {&node.after, &node.afterPrevious}) {
      for (const auto from : *edges) {
        if (from >= list.Length()) throw errorOf(env, "validation", "A node waits for a node that does not exist.");
      }
    }
    if (kind != "segment") {
      node.kind = kind == "send" ? NodeSpec::Kind::send : NodeSpec::Kind::receive;
      node.peer = spec.Get("peer").As<Napi::Number>();
      node.tag = spec.Get("tag").As<Napi::Number>();
      const auto offset = fromJs<std::size_t>(spec.Get("byteOffset"));
      auto &region = node.region;
      region.rows = fromJs<std::size_t>(spec.Get("rows"));
      region.rowByteLength = fromJs<std::size_t>(spec.Get("rowByteLength"));
      region.rowByteStride = fromJs<std::size_t>(spec.Get("rowByteStride"));
      const auto memory = spec.Get("memory");
      std::size_t byteLength = 0;
      if (memory.IsExternal()) {
        region.device = memory.As<Napi::External<TandemDeviceMemory>>().Data();
        if (region.device->version != tandemDeviceMemoryVersion)
          throw errorOf(env, "unsupported", "The backend passed to mpi() belongs to another version of Tandem.");
        if (!region.dense()) throw errorOf(env, "validation", "A message of device memory is not dense.");
        region.data = static_cast<std::byte *>(region.device->data) + offset;
        byteLength = region.device->byteLength;
      } else {
        auto arrayBuffer = memory.As<Napi::ArrayBuffer>();
        region.data = static_cast<std::byte *>(arrayBuffer.Data()) + offset;
        byteLength = arrayBuffer.ByteLength();
      }
      const auto end = region.rows == 0 ? 0 : offset + (region.rows - 1) * region.rowByteStride + region.rowByteLength;
      if (end > byteLength) throw errorOf(env, "validation", "A message is outside its memory.");
      prepared->memory.push_back(Napi::Persistent(memory.As<Napi::Object>()));
    }
    prepared->nodes.push_back(std::move(node));
  }
  return Napi::External<Prepared>::New(env, new Prepared(prepared), [](Napi::Env, Prepared *held) { delete held; });
}

namespace {

/// A running segment that native code has started. If the engine is gone when it ends, nothing waits for it.
struct StartedSegment {
  std::weak_ptr<Engine> engine;
  Key key;
  std::uint32_t node;
};

void segmentDone(void *context, const TandemLaunchEnd *end) {
  const std::unique_ptr<StartedSegment> segment(static_cast<StartedSegment *>(context));
  const auto engine = segment->engine.lock();
  if (!engine) return;
  if (end->error == nullptr) engine->segmentCompleted(segment->key, segment->node, 1);
  else engine->segmentFailed(segment->key, end->error);
}

} // namespace

/// group, number, handle, times, issue(node, repetition, count), launchers: (external TandemLauncher |
/// undefined)[], failed(reason) → Promise<{ seconds, repetitions }>
Napi::Value Session::run(const Napi::CallbackInfo &info) {
  const auto env = info.Env();
  auto &session = of(info);
  auto &engine = session.engine(env);
  const auto key = keyOf(info);
  const auto prepared = *info[2].As<Napi::External<Prepared>>().Data();
  const auto deferred = Napi::Promise::Deferred::New(env);
  const auto list = info[5].As<Napi::Array>();
  std::vector<const TandemLauncher *> launchers(list.Length());
  std::vector<Napi::ObjectReference> held;
  for (std::uint32_t node = 0; node < list.Length(); ++node) {
    const auto value = list.Get(node);
    if (value.IsUndefined()) continue;
    launchers[node] = launcherOf(value);
    held.push_back(Napi::Persistent(value.As<Napi::Object>()));
  }
  Running started{deferred, Napi::Persistent(info[4].As<Napi::Function>()), Napi::Persistent(info[6].As<Napi::Function>()),
                  std::move(held), prepared};
  if (!session.running_.try_emplace(key, std::move(started)).second) {
    throw errorOf(env, "validation", "Run " + std::to_string(key.number) + " was started twice.");
  }
  session.queue_.expect(env);
  engine.run(
      key, std::vector<NodeSpec>(prepared->nodes), fromJs<std::int64_t>(info[3]),
      [&session, post = session.post_, key, launchers = std::move(launchers), engine = std::weak_ptr<Engine>(session.engine_)](
          std::uint32_t node, std::int64_t repetition, std::int64_t count) {
        if (node < launchers.size() && launchers[node] != nullptr) {
          const auto &launcher = *launchers[node];
          for (std::int64_t turn = 0; turn < count; ++turn) {
            launcher.launch(launcher.self, segmentDone, new StartedSegment{engine, key, node});
          }
          return;
        }
        post([&session, key, node, repetition, count](Napi::Env env) {
          const auto found = session.running_.find(key);
          if (found == session.running_.end()) return;
          found->second.issue.Call({Napi::Number::New(env, node), Napi::Number::New(env, static_cast<double>(repetition)),
                                    Napi::Number::New(env, static_cast<double>(count))});
        });
      },
      [&session, post = session.post_, key](const std::string &reason) {
        post([&session, key, reason](Napi::Env env) {
          const auto found = session.running_.find(key);
          if (found != session.running_.end()) found->second.failed.Call({Napi::String::New(env, reason)});
        });
      },
      [&session, post = session.post_, key](const Engine::RunResult *result, const Failure *failure) {
        const auto outcome = result == nullptr ? Engine::RunResult{} : *result;
        post([&session, key, copy = copied(failure), outcome](Napi::Env env) {
          session.queue_.settled(env);
          // After a failure MPI may still write there: the memory stays.
          if (copy) {
            session.running_.at(key).deferred.Reject(errorOf(env, copy->code, copy->message).Value());
            return;
          }
          const auto running = session.running_.extract(key);
          running.mapped().deferred.Resolve(toJs(env, outcome));
        });
      });
  return deferred.Promise();
}

/// group, number, node, count
Napi::Value Session::segmentCompleted(const Napi::CallbackInfo &info) {
  of(info).engine(info.Env()).segmentCompleted(keyOf(info), info[2].As<Napi::Number>(), fromJs<std::int64_t>(info[3]));
  return info.Env().Undefined();
}

/// group, number
Napi::Value Session::endRun(const Napi::CallbackInfo &info) {
  of(info).engine(info.Env()).endRun(keyOf(info));
  return info.Env().Undefined();
}

/// group, number
Napi::Value Session::abortRun(const Napi::CallbackInfo &info) {
  of(info).engine(info.Env()).abortRun(keyOf(info));
  return info.Env().Undefined();
}

/// milliseconds
Napi::Value Session::stayAwake(const Napi::CallbackInfo &info) {
  of(info).engine(info.Env()).stayAwake(std::chrono::milliseconds(fromJs<std::uint64_t>(info[0])));
  return info.Env().Undefined();
}

/// Lets other threads that wait for this core go first.
Napi::Value Session::yieldCore(const Napi::CallbackInfo &info) {
  std::this_thread::yield();
  return info.Env().Undefined();
}

/// group | undefined, code, reason: this rank makes no more calls of the group, or of any
Napi::Value Session::leave(const Napi::CallbackInfo &info) {
  auto &session = of(info);
  auto &engine = session.engine(info.Env());
  const auto group = info[0].IsUndefined() ? Engine::everyGroup : fromJs<std::uint64_t>(info[0]);
  const Failure reason{info[1].As<Napi::String>(), info[2].As<Napi::String>()};
  if (session.liveness_) session.liveness_->leave(group, reason.code, reason.message);
  if (!reason.message.empty()) engine.left(group, reason);
  return info.Env().Undefined();
}

/// text: the calls that this rank has waited for too long, sent to all others
Napi::Value Session::sayWaiting(const Napi::CallbackInfo &info) {
  if (auto &session = of(info); session.liveness_) session.liveness_->sayWaiting(info[0].As<Napi::String>());
  return info.Env().Undefined();
}

/// Announces that this rank ends.
Napi::Value Session::end(const Napi::CallbackInfo &info) {
  if (auto &session = of(info); session.liveness_) session.liveness_->end();
  return info.Env().Undefined();
}

/// → whether MPI is finalized; waits for the other ranks
Napi::Value Session::finalize(const Napi::CallbackInfo &info) {
  auto &session = of(info);
  return Napi::Boolean::New(info.Env(), session.engine_ != nullptr && session.engine_->finalize());
}

/// exit code: ends the whole job
Napi::Value Session::abort(const Napi::CallbackInfo &info) {
  if (auto &session = of(info); session.engine_) session.engine_->abort(info[0].As<Napi::Number>());
  return info.Env().Undefined();
}

void Session::define(Napi::Env env, Napi::Object exports) {
  env.SetInstanceData(new Session(env));
  exports.Set("describeLibrary", Napi::Function::New<describeLibrary>(env));
  exports.Set("start", Napi::Function::New<start>(env));
  exports.Set("listen", Napi::Function::New<listen>(env));
  exports.Set("watch", Napi::Function::New<watch>(env));
  exports.Set("openGroup", Napi::Function::New<openGroup>(env));
  exports.Set("closeGroup", Napi::Function::New<closeGroup>(env));
  exports.Set("gather", Napi::Function::New<gather>(env));
  exports.Set("endTurn", Napi::Function::New<endTurn>(env));
  exports.Set("runAgreed", Napi::Function::New<runAgreed>(env));
  exports.Set("deliver", Napi::Function::New<deliver>(env));
  exports.Set("prepare", Napi::Function::New<prepare>(env));
  exports.Set("run", Napi::Function::New<run>(env));
  exports.Set("segmentCompleted", Napi::Function::New<segmentCompleted>(env));
  exports.Set("endRun", Napi::Function::New<endRun>(env));
  exports.Set("abortRun", Napi::Function::New<abortRun>(env));
  exports.Set("stayAwake", Napi::Function::New<stayAwake>(env));
  exports.Set("yieldCore", Napi::Function::New<yieldCore>(env));
  exports.Set("leave", Napi::Function::New<leave>(env));
  exports.Set("sayWaiting", Napi::Function::New<sayWaiting>(env));
  exports.Set("end", Napi::Function::New<end>(env));
  exports.Set("finalize", Napi::Function::New<finalize>(env));
  exports.Set("abort", Napi::Function::New<abort>(env));
}

} // namespace tandem

static Napi::Object initialize(Napi::Env env, Napi::Object exports) {
  tandem::Session::define(env, exports);
  return exports;
}
NODE_API_MODULE(tandem_mpi, initialize)
