#include "group_object.h"

#include "launcher.h"
#include "native_error.h"

namespace tandem {

namespace {

std::size_t sizeArgument(const Napi::Value &value) {
  return static_cast<std::size_t>(value.As<Napi::Number>().DoubleValue());
}

std::uint32_t idArgument(const Napi::Value &value) { return value.As<Napi::Number>().Uint32Value(); }

std::vector<Napi::ObjectReference> keep(std::initializer_list<Napi::Object> objects) {
  std::vector<Napi::ObjectReference> kept;
  for (const auto &object : objects) kept.push_back(Napi::Persistent(object));
  return kept;
}

/// gpu, address, rowByteLength, rows, rowByteStride, and an array that holds as many bytes.
TransferRegion regionArgument(const Napi::CallbackInfo &info) {
  TransferRegion region;
  region.gpu = sizeArgument(info[0]);
  region.address = static_cast<cuda::DevicePtr>(sizeArgument(info[1]));
  region.rowByteLength = sizeArgument(info[2]);
  region.rows = sizeArgument(info[3]);
  region.rowByteStride = sizeArgument(info[4]);
  const auto byteLength = info[5].As<Napi::Uint8Array>().ByteLength();
  if (byteLength != region.byteLength()) {
    throw Napi::RangeError::New(info.Env(), "A transfer of " + std::to_string(region.byteLength()) + " bytes gets " +
                                                std::to_string(byteLength) + " bytes of host memory.");
  }
  return region;
}

template <typename Value> Settle settleNumber(Value value) {
  return [value](Napi::Env env) -> Napi::Value { return Napi::Number::New(env, static_cast<double>(value)); };
}

} // namespace

Napi::Function GroupObject::define(Napi::Env env) {
  return DefineClass(env, "NativeGroup",
                     {
                         InstanceMethod("peers", &GroupObject::peers),
                         InstanceMethod("allocate", &GroupObject::allocate),
                         InstanceMethod("free", &GroupObject::free),
                         InstanceMethod("zero", &GroupObject::zero),
                         InstanceMethod("stopAddress", &GroupObject::stopAddress),
                         InstanceMethod("mapHost", &GroupObject::mapHost),
                         InstanceMethod("lockHost", &GroupObject::lockHost),
                         InstanceMethod("unlockHost", &GroupObject::unlockHost),
                         InstanceMethod("loadKernel", &GroupObject::loadKernel),
                         InstanceMethod("unloadKernel", &GroupObject::unloadKernel),
                         InstanceMethod("createGraph", &GroupObject::createGraph),
                         InstanceMethod("destroyGraph", &GroupObject::destroyGraph),
                         InstanceMethod("run", &GroupObject::run),
                         InstanceMethod("createLauncher", &GroupObject::createLauncher),
                         InstanceMethod("destroyLauncher", &GroupObject::destroyLauncher),
                         InstanceMethod("write", &GroupObject::write),
                         InstanceMethod("read", &GroupObject::read),
                         InstanceMethod("abandon", &GroupObject::abandon),
                         InstanceMethod("close", &GroupObject::close),
                     });
}

GroupObject::GroupObject(const Napi::CallbackInfo &info) : Napi::ObjectWrap<GroupObject>(info) {
  if (info.Length() != 1 || !info[0].IsExternal()) {
    throw Napi::TypeError::New(info.Env(), "Groups come from openGroup.");
  }
  auto *parts = info[0].As<Napi::External<Parts>>().Data();
  worker_ = parts->worker;
  group_ = parts->group;
  failures_ = parts->failures;
}

GroupObject::~GroupObject() {
  // Collected without close: the last reference goes where the group worked, before its thread ends.
  if (worker_) worker_->post([group = std::move(group_), mappings = std::move(mappings_)] {});
}

Napi::Value GroupObject::submit(Napi::Env env, Work work, std::vector<Napi::ObjectReference> kept) {
  if (!worker_) throw Napi::Error::New(env, "The group is closed.");
  kept.push_back(Napi::Persistent(Value()));
  return worker_->submit(env, std::move(work), std::move(kept));
}

Group &GroupObject::group(Napi::Env env) const {
  if (!group_) throw Napi::Error::New(env, "The group is closed.");
  return *group_;
}

/// Row-major flags: reader × owner.
Napi::Value GroupObject::peers(const Napi::CallbackInfo &info) {
  const auto &opened = group(info.Env());
  const auto count = opened.gpuCount();
  auto flags = Napi::Array::New(info.Env(), count * count);
  for (std::size_t reader = 0; reader < count; ++reader) {
    for (std::size_t owner = 0; owner < count; ++owner) {
      flags.Set(static_cast<std::uint32_t>(reader * count + owner),
                Napi::Boolean::New(info.Env(), opened.peer(reader, owner)));
    }
  }
  return flags;
}

Napi::Value GroupObject::allocate(const Napi::CallbackInfo &info) {
  const auto gpu = sizeArgument(info[0]);
  const auto byteLength = sizeArgument(info[1]);
  const bool zero = info[2].As<Napi::Boolean>();
  return submit(info.Env(), [group = group_, gpu, byteLength, zero] {
    return settleNumber(group->allocate(gpu, byteLength, zero));
  });
}

Napi::Value GroupObject::free(const Napi::CallbackInfo &info) {
  const auto address = static_cast<cuda::DevicePtr>(sizeArgument(info[0]));
  if (worker_) worker_->post([group = group_, address] { group->free(address); });
  return info.Env().Undefined();
}

/// gpu, address, byteLength
Napi::Value GroupObject::zero(const Napi::CallbackInfo &info) {
  return submit(info.Env(), [group = group_, gpu = sizeArgument(info[0]),
                             address = static_cast<cuda::DevicePtr>(sizeArgument(info[1])),
                             byteLength = sizeArgument(info[2])] {
    group->zero(gpu, address, byteLength);
    return settleUndefined();
  });
}

Napi::Value GroupObject::stopAddress(const Napi::CallbackInfo &info) {
  return Napi::Number::New(info.Env(), static_cast<double>(group(info.Env()).stopAddress()));
}

/// byteLength → { arrayBuffer, address }: pages of their own. Node 20 cannot make external buffers above 4 GiB. Undefined in runtimes that
/// allow no external buffers, such as Electron.
Napi::Value GroupObject::mapHost(const Napi::CallbackInfo &info) {
  const auto env = info.Env();
  auto mapping = std::make_shared<HostMapping>(sizeArgument(info[0]));
  const auto address = static_cast<double>(reinterpret_cast<std::uintptr_t>(mapping->address()));
  auto held = std::make_unique<std::shared_ptr<HostMapping>>(mapping);
  napi_value arrayBuffer;
  const auto status = napi_create_external_arraybuffer(
      env, mapping->address(), mapping->byteLength(),
      [](napi_env, void *, void *hint) { delete static_cast<std::shared_ptr<HostMapping> *>(hint); }, held.get(),
      &arrayBuffer);
  if (status == napi_no_external_buffers_allowed) return env.Undefined();
  if (status != napi_ok) throw Napi::Error::New(env);
  held.release();
  mappings_[address] = mapping;
  auto value = Napi::Object::New(env);
  value.Set("arrayBuffer", arrayBuffer);
  value.Set("address", address);
  return value;
}

/// Page-locks the memory of an ArrayBuffer → { address, locked: Promise }. The caller keeps it alive until unlockHost has settled.
Napi::Value GroupObject::lockHost(const Napi::CallbackInfo &info) {
  auto arrayBuffer = info[0].As<Napi::ArrayBuffer>();
  void *address = arrayBuffer.Data();
  const auto byteLength = arrayBuffer.ByteLength();
  auto value = Napi::Object::New(info.Env());
  value.Set("address", static_cast<double>(reinterpret_cast<std::uintptr_t>(address)));
  value.Set("locked", submit(
                          info.Env(),
                          [group = group_, address, byteLength] {
                            group->lockHost(address, byteLength);
                            return settleUndefined();
                          },
                          keep({arrayBuffer})));
  return value;
}

/// address, arrayBuffer, detach: unlocks after the work queued so far. `detach` empties a mapped ArrayBuffer at once. The pages live until
/// unlocked: a mapping's by themselves, even where the caller has detached its ArrayBuffer, others by the ArrayBuffer.
Napi::Value GroupObject::unlockHost(const Napi::CallbackInfo &info) {
  const auto address = sizeArgument(info[0]);
  auto arrayBuffer = info[1].As<Napi::ArrayBuffer>();
  std::shared_ptr<HostMapping> mapping;
  const auto found = mappings_.find(static_cast<double>(address));
  if (found != mappings_.end()) {
    mapping = found->second;
    mappings_.erase(found);
  }
  if (info[2].As<Napi::Boolean>() && !arrayBuffer.IsDetached()) arrayBuffer.Detach();
  return submit(
      info.Env(),
      [group = group_, address, mapping]() mutable {
        group->unlockHost(reinterpret_cast<void *>(address));
        mapping.reset();
        return settleUndefined();
      },
      keep({arrayBuffer}));
}

/// id, gpu, image: Uint8Array, entry, dynamicSharedByteLength
Napi::Value GroupObject::loadKernel(const Napi::CallbackInfo &info) {
  const auto image = info[2].As<Napi::Uint8Array>();
  return submit(info.Env(), [group = group_, id = idArgument(info[0]), gpu = sizeArgument(info[1]),
                             bytes = std::vector<std::uint8_t>(image.Data(), image.Data() + image.ByteLength()),
                             entry = info[3].As<Napi::String>().Utf8Value(),
                             shared = info[4].As<Napi::Number>().Int32Value()] {
    group->loadKernel(id, gpu, bytes, entry, shared);
    return settleUndefined();
  });
}

Napi::Value GroupObject::unloadKernel(const Napi::CallbackInfo &info) {
  if (worker_) worker_->post([group = group_, id = idArgument(info[0])] { group->unloadKernel(id); });
  return info.Env().Undefined();
}

/// id, mainGpu, words: Float64Array
Napi::Value GroupObject::createGraph(const Napi::CallbackInfo &info) {
  const auto words = info[2].As<Napi::Float64Array>();
  return submit(info.Env(), [group = group_, id = idArgument(info[0]), gpu = sizeArgument(info[1]),
                             copied = std::vector<double>(words.Data(), words.Data() + words.ElementLength())] {
    group->createGraph(id, gpu, copied);
    return settleUndefined();
  });
}

Napi::Value GroupObject::destroyGraph(const Napi::CallbackInfo &info) {
  if (worker_) worker_->post([group = group_, id = idArgument(info[0])] { group->destroyGraph(id); });
  return info.Env().Undefined();
}

/// { steps: [{ graphs: number[], count }], uniformTargets: [{ gpu, address }], uniforms?: Uint8Array, collect: [{ gpu, address,
/// byteLength, clear }], abortWord: Int32Array } → { seconds, launches, collected: Uint8Array[] }
Napi::Value GroupObject::run(const Napi::CallbackInfo &info) {
  const auto env = info.Env();
  const auto spec = info[0].As<Napi::Object>();
  auto request = std::make_shared<RunRequest>();
  const auto steps = spec.Get("steps").As<Napi::Array>();
  for (std::uint32_t index = 0; index < steps.Length(); ++index) {
    const auto value = steps.Get(index).As<Napi::Object>();
    RunStep step;
    step.count = sizeArgument(value.Get("count"));
    const auto graphs = value.Get("graphs").As<Napi::Array>();
    for (std::uint32_t graph = 0; graph < graphs.Length(); ++graph) step.graphs.push_back(idArgument(graphs.Get(graph)));
    request->steps.push_back(std::move(step));
  }
  const auto targets = spec.Get("uniformTargets").As<Napi::Array>();
  for (std::uint32_t index = 0; index < targets.Length(); ++index) {
    const auto value = targets.Get(index).As<Napi::Object>();
    request->uniformTargets.emplace_back(sizeArgument(value.Get("gpu")), sizeArgument(value.Get("address")));
  }
  if (targets.Length() > 0) {
    const auto uniforms = spec.Get("uniforms").As<Napi::Uint8Array>();
    request->uniforms.assign(uniforms.Data(), uniforms.Data() + uniforms.ByteLength());
  }
  const auto collect = spec.Get("collect").As<Napi::Array>();
  for (std::uint32_t index = 0; index < collect.Length(); ++index) {
    const auto value = collect.Get(index).As<Napi::Object>();
    request->collect.push_back({sizeArgument(value.Get("gpu")), sizeArgument(value.Get("address")),
                                sizeArgument(value.Get("byteLength")), value.Get("clear").As<Napi::Boolean>()});
  }
  const auto abortWord = spec.Get("abortWord").As<Napi::Int32Array>();
  request->abortWord = abortWord.Data();
  if (worker_) request->stopping = worker_->stopping();
  return submit(
      env,
      [group = group_, request]() -> Settle {
        auto outcome = std::make_shared<RunOutcome>(group->run(*request));
        return [outcome](Napi::Env env) -> Napi::Value {
          auto value = Napi::Object::New(env);
          value.Set("seconds", outcome->seconds);
          value.Set("launches", static_cast<double>(outcome->launches));
          auto collected = Napi::Array::New(env, outcome->collected.size());
          for (std::size_t index = 0; index < outcome->collected.size(); ++index) {
            const auto &bytes = outcome->collected[index];
            auto array = Napi::Uint8Array::New(env, bytes.size());
            std::copy(bytes.begin(), bytes.end(), array.Data());
            collected.Set(static_cast<std::uint32_t>(index), array);
          }
          value.Set("collected", collected);
          return value;
        };
      },
      keep({abortWord}));
}

/// id, graphs: number[] → Promise<an external value that holds a TandemLauncher>
Napi::Value GroupObject::createLauncher(const Napi::CallbackInfo &info) {
  const auto list = info[1].As<Napi::Array>();
  std::vector<std::uint32_t> graphs;
  for (std::uint32_t index = 0; index < list.Length(); ++index) graphs.push_back(idArgument(list.Get(index)));
  const auto id = idArgument(info[0]);
  // `group` throws once closed, and there is a worker until then.
  group(info.Env());
  const auto launcher = std::make_shared<Launcher>(*worker_, group_, id);
  return submit(info.Env(), [group = group_, launcher, id, graphs]() -> Settle {
    group->createLaunchSet(id, graphs);
    return [launcher](Napi::Env env) -> Napi::Value {
      auto *interface = new TandemLauncher{tandemLauncherVersion, new std::shared_ptr<Launcher>(launcher), Launcher::launch};
      return Napi::External<TandemLauncher>::New(env, interface, [](Napi::Env, TandemLauncher *held) {
        delete static_cast<std::shared_ptr<Launcher> *>(held->self);
        delete held;
      });
    };
  });
}

/// id
Napi::Value GroupObject::destroyLauncher(const Napi::CallbackInfo &info) {
  if (worker_) worker_->post([group = group_, id = idArgument(info[0])] { group->destroyLaunchSet(id); });
  return info.Env().Undefined();
}

/// gpu, address, rowByteLength, rows, rowByteStride, bytes: Uint8Array
Napi::Value GroupObject::write(const Napi::CallbackInfo &info) {
  const auto bytes = info[5].As<Napi::Uint8Array>();
  return submit(
      info.Env(),
      [group = group_, region = regionArgument(info), data = bytes.Data()] {
        group->write(region, data);
        return settleUndefined();
      },
      keep({bytes}));
}

Napi::Value GroupObject::read(const Napi::CallbackInfo &info) {
  auto bytes = info[5].As<Napi::Uint8Array>();
  return submit(
      info.Env(),
      [group = group_, region = regionArgument(info), data = bytes.Data()] {
        group->read(region, data);
        return settleUndefined();
      },
      keep({bytes}));
}

/// Nothing waits for the group's thread any more, which may never come back from the driver.
Napi::Value GroupObject::abandon(const Napi::CallbackInfo &info) {
  if (worker_) worker_->abandon(info.Env());
  return info.Env().Undefined();
}

/// Waits for the queue, frees everything, ends the thread → what the driver refused to take back, a sentence each
Napi::Value GroupObject::close(const Napi::CallbackInfo &info) {
  auto group = std::make_shared<std::shared_ptr<Group>>(std::move(group_));
  auto promise = submit(info.Env(), [group, failures = failures_]() -> Settle {
    group->reset();
    return [failures](Napi::Env env) -> Napi::Value {
      auto list = Napi::Array::New(env, failures->size());
      for (std::uint32_t index = 0; index < failures->size(); ++index) list.Set(index, failures->at(index));
      return list;
    };
  });
  worker_.reset();
  mappings_.clear();
  return promise;
}

} // namespace tandem
