#pragma once
#include <napi.h>

#include <map>
#include <memory>

#include "group.h"
#include "host_mapping.h"
#include "worker.h"

namespace tandem {

/// The JavaScript face of a Group. Methods queue jobs on the group's worker and return at once.
class GroupObject : public Napi::ObjectWrap<GroupObject> {
public:
  static Napi::Function define(Napi::Env env);
  explicit GroupObject(const Napi::CallbackInfo &info);
  ~GroupObject() override;

  /// What openGroup hands over on the JavaScript thread.
  struct Parts {
    std::shared_ptr<Worker> worker;
    std::shared_ptr<Group> group;
    std::shared_ptr<cuda::ReleaseFailures> failures;
  };

private:
  Napi::Value peers(const Napi::CallbackInfo &info);
  Napi::Value allocate(const Napi::CallbackInfo &info);
  Napi::Value free(const Napi::CallbackInfo &info);
  Napi::Value zero(const Napi::CallbackInfo &info);
  Napi::Value stopAddress(const Napi::CallbackInfo &info);
  Napi::Value mapHost(const Napi::CallbackInfo &info);
  Napi::Value lockHost(const Napi::CallbackInfo &info);
  Napi::Value unlockHost(const Napi::CallbackInfo &info);
  Napi::Value loadKernel(const Napi::CallbackInfo &info);
  Napi::Value unloadKernel(const Napi::CallbackInfo &info);
  Napi::Value createGraph(const Napi::CallbackInfo &info);
  Napi::Value destroyGraph(const Napi::CallbackInfo &info);
  Napi::Value run(const Napi::CallbackInfo &info);
  Napi::Value createLauncher(const Napi::CallbackInfo &info);
  Napi::Value destroyLauncher(const Napi::CallbackInfo &info);
  Napi::Value write(const Napi::CallbackInfo &info);
  Napi::Value read(const Napi::CallbackInfo &info);
  Napi::Value abandon(const Napi::CallbackInfo &info);
  Napi::Value close(const Napi::CallbackInfo &info);

  /// Throws once closed.
  Group &group(Napi::Env env) const;
  Napi::Value submit(Napi::Env env, Work work, std::vector<Napi::ObjectReference> kept = {});

  std::shared_ptr<Worker> worker_;
  std::shared_ptr<Group> group_;
  std::shared_ptr<cuda::ReleaseFailures> failures_;
  /// Mappings of external ArrayBuffers that are not freed yet, by address.
  std::map<double, std::shared_ptr<HostMapping>> mappings_;
};

} // namespace tandem
