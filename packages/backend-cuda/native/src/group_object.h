#pragma once
#include <napi.h>

#include <map>
#include <memory>

#include "group.h"
#include "worker.h"

namespace tandem {

/// The JavaScript interface of a Group, whose methods src/native-addon.ts declares: each queues a job on the
/// group's worker and returns at once.
class GroupObject : public Napi::ObjectWrap<GroupObject> {
public:
  static Napi::Function define(Napi::Env env);
  explicit GroupObject(const Napi::CallbackInfo &info);
  ~GroupObject() override;

  /// The parts of a group, which openGroup passes to the constructor on the JavaScript thread.
  struct Parts {
    std::shared_ptr<Worker> worker;
    std::shared_ptr<Group> group;
    std::shared_ptr<cuda::ReleaseFailures> failures;
  };

private:
  /// Queues a call of a method of the group, and returns a promise of its result.
  template <auto method> Napi::Value queue(const Napi::CallbackInfo &info);
  /// Queues a call of a method of the group that releases something, without waiting for it.
  template <auto method> Napi::Value post(const Napi::CallbackInfo &info);
  Napi::Value drain(const Napi::CallbackInfo &info);
  Napi::Value breakOff(const Napi::CallbackInfo &info);
  Napi::Value yieldCore(const Napi::CallbackInfo &info);
  Napi::Value mapHost(const Napi::CallbackInfo &info);
  Napi::Value lockHost(const Napi::CallbackInfo &info);
  Napi::Value unlockHost(const Napi::CallbackInfo &info);
  Napi::Value openQueue(const Napi::CallbackInfo &info);
  Napi::Value createLauncher(const Napi::CallbackInfo &info);
  Napi::Value createRunLauncher(const Napi::CallbackInfo &info);
  Napi::Value deviceMemory(const Napi::CallbackInfo &info);
  Napi::Value abandon(const Napi::CallbackInfo &info);
  Napi::Value close(const Napi::CallbackInfo &info);

  /// Throws once closed.
  Napi::Value submit(const Napi::CallbackInfo &info, Work work);

  Parts parts_;
  /// Blocks of external ArrayBuffers that are not freed yet, by address.
  std::map<std::uintptr_t, HostBlocks::Block> mappings_;
};

} // namespace tandem
