#include "group_object.h"

#include <thread>

#include "tandem_device_memory.h"
#include "js_work.h"
#include "launcher.h"
#include "queue_object.h"

namespace tandem {

namespace {

template <typename Result, typename... Parameters>
Work workOn(const Napi::CallbackInfo &info, std::shared_ptr<Group> group, Result (Group::*method)(Parameters...)) {
  return workOf<Parameters...>(
      info, [group = std::move(group), method](const auto &...arguments) { return (*group.*method)(arguments...); });
}

/// An external value that holds a TandemLauncher.
template <typename Type> Napi::Value launcherValue(Napi::Env env, const std::shared_ptr<Type> &launcher) {
  auto *interface = new TandemLauncher{tandemLauncherVersion, new std::shared_ptr<Type>(launcher), Type::launch};
  return Napi::External<TandemLauncher>::New(env, interface, [](Napi::Env, TandemLauncher *held) {
    delete static_cast<std::shared_ptr<Type> *>(held->self);
    delete held;
  });
}

} // namespace

Napi::Function GroupObject::define(Napi::Env env) {
  return DefineClass(env, "NativeGroup",
                     {
                         InstanceMethod("allocate", &GroupObject::queue<&Group::allocate>),
                         InstanceMethod("free", &GroupObject::post<&Group::free>),
                         InstanceMethod("zero", &GroupObject::queue<&Group::zero>),
                         InstanceMethod("exportMemory", &GroupObject::queue<&Group::exportMemory>),
                         InstanceMethod("importMemory", &GroupObject::queue<&Group::importMemory>),
                         InstanceMethod("closeMemory", &GroupObject::post<&Group::closeMemory>),
                         InstanceMethod("drain", &GroupObject::drain),
                         InstanceMethod("deviceMemory", &GroupObject::deviceMemory),
                         InstanceMethod("joinRanks", &GroupObject::queue<&Group::joinRanks>),
                         InstanceMethod("breakOff", &GroupObject::breakOff),
                         InstanceMethod("mapHost", &GroupObject::mapHost),
                         InstanceMethod("lockHost", &GroupObject::lockHost),
                         InstanceMethod("unlockHost", &GroupObject::unlockHost),
                         InstanceMethod("loadKernel", &GroupObject::queue<&Group::loadKernel>),
                         InstanceMethod("unloadKernel", &GroupObject::post<&Group::unloadKernel>),
                         InstanceMethod("createGraph", &GroupObject::queue<&Group::createGraph>),
                         InstanceMethod("destroyGraph", &GroupObject::post<&Group::destroyGraph>),
                         InstanceMethod("run", &GroupObject::queue<&Group::run>),
                         InstanceMethod("createLauncher", &GroupObject::createLauncher),
                         InstanceMethod("createRunLauncher", &GroupObject::createRunLauncher),
                         InstanceMethod("destroyLauncher", &GroupObject::post<&Group::destroyLaunchSet>),
                         InstanceMethod("openQueue", &GroupObject::openQueue),
                         InstanceMethod("write", &GroupObject::queue<&Group::write>),
                         InstanceMethod("read", &GroupObject::queue<&Group::read>),
                         InstanceMethod("yieldCore", &GroupObject::yieldCore),
                         InstanceMethod("abandon", &GroupObject::abandon),
                         InstanceMethod("close", &GroupObject::close),
                     });
}

GroupObject::GroupObject(const Napi::CallbackInfo &info) : Napi::ObjectWrap<GroupObject>(info) {
  if (info.Length() != 1 || !info[0].IsExternal()) {
    throw Napi::TypeError::New(info.Env(), "Groups come from openGroup.");
  }
  parts_ = *info[0].As<Napi::External<Parts>>().Data();
}

GroupObject::~GroupObject() {
  // Garbage-collected without close: the group's thread releases the last reference before it ends.
  if (parts_.worker) parts_.worker->post([group = std::move(parts_.group), mappings = std::move(mappings_)] {});
}

Napi::Value GroupObject::submit(const Napi::CallbackInfo &info, Work work) {
  if (!parts_.worker) throw Napi::Error::New(info.Env(), "The group has been closed.");
  return parts_.worker->submit(info, std::move(work));
}

template <auto method> Napi::Value GroupObject::queue(const Napi::CallbackInfo &info) {
  return submit(info, workOn(info, parts_.group, method));
}

template <auto method> Napi::Value GroupObject::post(const Napi::CallbackInfo &info) {
  if (parts_.worker) parts_.worker->post(workOn(info, parts_.group, method));
  return info.Env().Undefined();
}

/// Whatever is queued before is done by then.
Napi::Value GroupObject::drain(const Napi::CallbackInfo &info) {
  return submit(info, [] { return Settle(); });
}

/// Takes effect at once, while a run waits.
Napi::Value GroupObject::breakOff(const Napi::CallbackInfo &info) {
  if (parts_.group) parts_.group->breakOff();
  return info.Env().Undefined();
}

/// Lets other threads go first that wait for this core.
Napi::Value GroupObject::yieldCore(const Napi::CallbackInfo &info) {
  std::this_thread::yield();
  return info.Env().Undefined();
}

/// byteLength → { arrayBuffer, address, locked }: zeros in pages of their own, which may be locked already.
/// Node 20 cannot make external buffers above 4 GiB. Undefined in runtimes that allow no external buffers,
/// such as Electron.
Napi::Value GroupObject::mapHost(const Napi::CallbackInfo &info) {
  const auto env = info.Env();
  if (!parts_.group) throw Napi::Error::New(env, "The group has been closed.");
  const auto byteLength = fromJs<std::size_t>(info[0]);
  auto block = parts_.group->hostBlocks().take(byteLength);
  auto pages = std::make_unique<std::shared_ptr<void>>(block.pages);
  napi_value arrayBuffer;
  const auto status = napi_create_external_arraybuffer(
      env, pages->get(), byteLength, [](napi_env, void *, void *held) { delete static_cast<std::shared_ptr<void> *>(held); },
      pages.get(), &arrayBuffer);
  // Pages that cannot be put into an ArrayBuffer were never locked.
  if (status == napi_no_external_buffers_allowed) return env.Undefined();
  if (status != napi_ok) {
    if (block.locked) parts_.group->hostBlocks().keep(block);
    throw Napi::Error::New(env);
  }
  // The ArrayBuffer owns them from now on.
  const auto address = reinterpret_cast<std::uintptr_t>(pages.release()->get());
  auto value = Napi::Object::New(env);
  value.Set("arrayBuffer", arrayBuffer);
  value.Set("address", toJs(env, address));
  value.Set("locked", toJs(env, block.locked));
  mappings_[address] = std::move(block);
  return value;
}

/// Page-locks the memory of an ArrayBuffer → { address, locked: Promise }. The caller keeps it alive until
/// unlockHost has settled. Of a mapping the whole block is locked.
Napi::Value GroupObject::lockHost(const Napi::CallbackInfo &info) {
  auto arrayBuffer = info[0].As<Napi::ArrayBuffer>();
  auto value = Napi::Object::New(info.Env());
  value.Set("address", toJs(info.Env(), reinterpret_cast<std::uintptr_t>(arrayBuffer.Data())));
  const auto mapping = mappings_.find(reinterpret_cast<std::uintptr_t>(arrayBuffer.Data()));
  const auto byteLength = mapping == mappings_.end() ? arrayBuffer.ByteLength() : mapping->second.byteLength;
  const auto lock = [group = parts_.group, address = arrayBuffer.Data(), byteLength]() -> Settle {
    group->lockHost(address, byteLength);
    return nullptr;
  };
  value.Set("locked", submit(info, lock));
  return value;
}

/// address, arrayBuffer, detach: unlocks the pages after the work queued so far. `detach` empties a mapped
/// ArrayBuffer at once. Until then, something keeps the pages: for a mapping the group itself, even if the
/// caller has detached the ArrayBuffer, and for other memory the ArrayBuffer. If this call detaches the
/// ArrayBuffer of a mapping, nobody else can access its pages, so the next mapping of their size class reuses
/// them.
Napi::Value GroupObject::unlockHost(const Napi::CallbackInfo &info) {
  const auto address = fromJs<std::uintptr_t>(info[0]);
  auto arrayBuffer = info[1].As<Napi::ArrayBuffer>();
  auto mapping = mappings_.extract(address);
  const bool detaches = fromJs<bool>(info[2]) && !arrayBuffer.IsDetached();
  if (detaches) arrayBuffer.Detach();
  return submit(info, [group = parts_.group, address, block = !mapping.empty() ? std::move(mapping.mapped()) : HostBlocks::Block{},
                       reusable = !mapping.empty() && detaches]() mutable -> Settle {
    if (reusable) group->giveBack(block);
    else group->unlockHost(reinterpret_cast<void *>(address));
    block = {};
    return nullptr;
  });
}

/// id, graphs: number[] → Promise<an external value that holds a TandemLauncher>
Napi::Value GroupObject::createLauncher(const Napi::CallbackInfo &info) {
  if (!parts_.worker) throw Napi::Error::New(info.Env(), "The group has been closed.");
  const auto id = fromJs<std::uint32_t>(info[0]);
  return submit(info, [group = parts_.group, id, graphs = fromJs<std::vector<std::uint32_t>>(info[1]),
                       launcher = std::make_shared<Launcher>(*parts_.worker, parts_.group, id)]() -> Settle {
    group->createLaunchSet(id, graphs);
    return [launcher](Napi::Env env) { return launcherValue(env, launcher); };
  });
}

/// before, steps: as of a run → an external value that holds a TandemLauncher
Napi::Value GroupObject::createRunLauncher(const Napi::CallbackInfo &info) {
  if (!parts_.worker) throw Napi::Error::New(info.Env(), "The group has been closed.");
  RunRequest request;
  request.before = fromJs<std::vector<std::uint32_t>>(info[0]);
  request.steps = fromJs<std::vector<RunStep>>(info[1]);
  return launcherValue(info.Env(), std::make_shared<RunLauncher>(*parts_.worker, parts_.group, std::move(request)));
}

/// id, gpu, timeoutSeconds, ids of the kernels copy16, scatter and stamp, onMessage → NativeQueue
Napi::Value GroupObject::openQueue(const Napi::CallbackInfo &info) {
  if (!parts_.worker) throw Napi::Error::New(info.Env(), "The group has been closed.");
  return QueueObject::open(info, parts_.worker, parts_.group);
}

/// address, byteLength → Promise<an external value that holds a TandemDeviceMemory>
Napi::Value GroupObject::deviceMemory(const Napi::CallbackInfo &info) {
  return submit(info, [group = parts_.group, address = fromJs<cuda::DevicePtr>(info[0]), byteLength = fromJs<std::size_t>(info[1])]() -> Settle {
    return [memory = group->deviceMemory(address, byteLength)](Napi::Env env) -> Napi::Value {
      auto *interface = new TandemDeviceMemory{tandemDeviceMemoryVersion, new std::shared_ptr<const DeviceMemory>(memory),
                                               reinterpret_cast<void *>(memory->address), memory->byteLength, DeviceMemory::use};
      return Napi::External<TandemDeviceMemory>::New(env, interface, [](Napi::Env, TandemDeviceMemory *held) {
        delete static_cast<std::shared_ptr<const DeviceMemory> *>(held->self);
        delete held;
      });
    };
  });
}

/// Nothing waits for the group's thread any more, which may never come back from the driver.
Napi::Value GroupObject::abandon(const Napi::CallbackInfo &info) {
  if (parts_.worker) parts_.worker->abandon(info.Env());
  return info.Env().Undefined();
}

/// Waits for the queue, frees everything and ends the thread → a sentence for each call that fails to release
/// something
Napi::Value GroupObject::close(const Napi::CallbackInfo &info) {
  auto promise = submit(info, [group = std::move(parts_.group), failures = parts_.failures]() mutable -> Settle {
    group.reset();
    return [failures](Napi::Env env) { return toJs(env, *failures); };
  });
  parts_ = {};
  mappings_.clear();
  return promise;
}

} // namespace tandem
