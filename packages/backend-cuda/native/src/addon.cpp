// Exports of the addon; src/native-addon.ts declares their types. At load time, only the exports are created.
#include <napi.h>

#include <array>

#include "communicator.h"
#include "cuda_probe.h"
#include "group_object.h"
#include "js_work.h"
#include "nvml_monitor.h"
#include "nvrtc_compiler.h"
#include "worker.h"

namespace tandem {

namespace {

/// What one JavaScript environment owns.
struct AddonState {
  Napi::FunctionReference groupConstructor;
  std::unique_ptr<Worker> control;
  /// NVRTC takes 0.1 to 1 s a kernel: several compile at a time.
  std::array<std::unique_ptr<Worker>, 4> compilers;
};

/// Lets the worker execute the function; creates the worker at the first call.
template <auto function>
Napi::Value carryOut(const Napi::CallbackInfo &info, std::unique_ptr<Worker> &worker, const char *name) {
  try {
    if (!worker) worker = std::make_unique<Worker>(info.Env(), name);
  } catch (const NativeError &error) {
    return rejected(info.Env(), error);
  }
  return worker->submit(info, workOf(info, function));
}

/// A function that `control` carries out.
template <auto function> Napi::Value onControl(const Napi::CallbackInfo &info) {
  return carryOut<function>(info, info.Env().GetInstanceData<AddonState>()->control, "tandem control");
}

/// The one of `compilers` whose number is argument `index`.
std::unique_ptr<Worker> &compilerOf(const Napi::CallbackInfo &info, std::size_t index) {
  auto &compilers = info.Env().GetInstanceData<AddonState>()->compilers;
  return compilers[fromJs<std::uint32_t>(info[index]) % compilers.size()];
}

Napi::Value nvrtcVersion(const Napi::CallbackInfo &info) {
  return carryOut<nvrtc::version>(info, info.Env().GetInstanceData<AddonState>()->compilers[0], "tandem compiler");
}

/// libraries, request, number of the compiler.
Napi::Value nvrtcCompile(const Napi::CallbackInfo &info) {
  return carryOut<nvrtc::compile>(info, compilerOf(info, 2), "tandem compiler");
}

/// The compilation in flight may never end: another thread carries out what the compiler is given after this.
void abandonCompiler(const Napi::CallbackInfo &info) {
  auto &compiler = compilerOf(info, 0);
  if (!compiler) return;
  compiler->abandon(info.Env());
  compiler.reset();
}

/// libraries, ordinals, shareable → NativeGroup. The ordinals are of distinct physical GPUs.
Napi::Value openGroup(const Napi::CallbackInfo &info) {
  std::shared_ptr<Worker> worker;
  try {
    worker = std::make_shared<Worker>(info.Env(), "tandem group");
  } catch (const NativeError &error) {
    return rejected(info.Env(), error);
  }
  // The settle function keeps the worker alive until the group's object does.
  return worker->submit(info, [libraries = fromJs<std::vector<std::string>>(info[0]),
                               ordinals = fromJs<std::vector<int>>(info[1]), shareable = fromJs<std::optional<bool>>(info[2]).value_or(false),
                               worker]() -> Settle {
    auto failures = std::make_shared<cuda::ReleaseFailures>();
    auto group = std::make_shared<Group>(cuda::loadDriver(libraries), ordinals, shareable, failures, worker->stopping());
    worker->onRest([held = std::weak_ptr<Group>(group)] {
      if (const auto idle = held.lock()) idle->rest();
    });
    return [group, worker, failures](Napi::Env env) -> Napi::Value {
      GroupObject::Parts parts{worker, group, failures};
      auto &constructor = env.GetInstanceData<AddonState>()->groupConstructor;
      auto object = constructor.New({Napi::External<GroupObject::Parts>::New(env, &parts)});
      object.Set("peers", toJs(env, group->peers()));
      object.Set("stopAddress", toJs(env, group->stopAddress()));
      object.Set("leaveAddresses", toJs(env, group->leaveAddresses()));
      return object;
    };
  });
}

Napi::Object initialize(Napi::Env env, Napi::Object exports) {
  auto *state = new AddonState();
  env.SetInstanceData(state);
  state->groupConstructor = Napi::Persistent(GroupObject::define(env));
  exports.Set("probe", Napi::Function::New<onControl<cuda::probe>>(env));
  exports.Set("openGroup", Napi::Function::New<openGroup>(env));
  exports.Set("ncclVersion", Napi::Function::New<onControl<nccl::version>>(env));
  exports.Set("ncclUniqueId", Napi::Function::New<onControl<nccl::uniqueId>>(env));
  exports.Set("nvrtcVersion", Napi::Function::New(env, nvrtcVersion));
  exports.Set("nvrtcCompile", Napi::Function::New(env, nvrtcCompile));
  exports.Set("abandonCompiler", Napi::Function::New(env, abandonCompiler));
  exports.Set("endWithJobs", Napi::Function::New(env, [](const Napi::CallbackInfo &) { endWithJobs(); }));
  exports.Set("nvmlDevices", Napi::Function::New<onControl<nvml::devices>>(env));
  exports.Set("nvmlRead", Napi::Function::New<onControl<nvml::read>>(env));
  exports.Set("nvmlLinks", Napi::Function::New<onControl<nvml::links>>(env));
  exports.Set("nvmlCommonAncestor", Napi::Function::New<onControl<nvml::commonAncestor>>(env));
  return exports;
}

} // namespace

} // namespace tandem

static Napi::Object initialize(Napi::Env env, Napi::Object exports) { return tandem::initialize(env, exports); }
NODE_API_MODULE(tandem_cuda, initialize)
