// Exports of the addon; src/native-addon.ts declares their types. Nothing here runs at load time but the exports' creation.
#include <napi.h>

#include <array>

#include "cuda_driver.h"
#include "group_object.h"
#include "native_error.h"
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
  std::size_t nextCompiler = 0;

  Worker &controlWorker(Napi::Env env) {
    if (!control) control = std::make_unique<Worker>(env, "tandem control");
    return *control;
  }
  Worker &compiler(Napi::Env env) {
    auto &worker = compilers[nextCompiler++ % compilers.size()];
    if (!worker) worker = std::make_unique<Worker>(env, "tandem compiler");
    return *worker;
  }
};

std::vector<std::string> stringsArgument(const Napi::Value &value) {
  const auto array = value.As<Napi::Array>();
  std::vector<std::string> strings;
  for (std::uint32_t index = 0; index < array.Length(); ++index) {
    strings.push_back(array.Get(index).As<Napi::String>().Utf8Value());
  }
  return strings;
}

struct DeviceProperties {
  int ordinal = 0;
  std::string name;
  std::string pciBusId;
  std::string uuid;
  std::size_t totalByteLength = 0;
  std::map<std::string, int> attributes;
};

std::string uuidText(const cuda::Uuid &uuid) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (int index = 0; index < 16; ++index) {
    if (index == 4 || index == 6 || index == 8 || index == 10) text += '-';
    text += digits[uuid.bytes[index] >> 4];
    text += digits[uuid.bytes[index] & 15];
  }
  return text;
}

DeviceProperties describe(const cuda::Driver &driver, int ordinal) {
  DeviceProperties properties;
  properties.ordinal = ordinal;
  cuda::Device device = 0;
  cuda::check(driver, driver.deviceGet(&device, ordinal), "cuDeviceGet");
  char text[256] = {};
  cuda::check(driver, driver.deviceGetName(text, sizeof text, device), "cuDeviceGetName");
  properties.name = text;
  cuda::check(driver, driver.deviceGetPciBusId(text, sizeof text, device), "cuDeviceGetPCIBusId");
  properties.pciBusId = text;
  cuda::Uuid uuid{};
  cuda::check(driver, driver.deviceGetUuid(&uuid, device), "cuDeviceGetUuid");
  properties.uuid = uuidText(uuid);
  cuda::check(driver, driver.deviceTotalMem(&properties.totalByteLength, device), "cuDeviceTotalMem");
  const std::pair<const char *, int> attributes[] = {
      {"maxThreadsPerBlock", cuda::maxThreadsPerBlock},
      {"maxBlockDimX", cuda::maxBlockDimX},
      {"maxBlockDimY", cuda::maxBlockDimY},
      {"maxBlockDimZ", cuda::maxBlockDimZ},
      {"maxSharedMemoryPerBlockOptin", cuda::maxSharedMemoryPerBlockOptin},
      {"warpSize", cuda::warpSize},
      {"computeCapabilityMajor", cuda::computeCapabilityMajor},
      {"computeCapabilityMinor", cuda::computeCapabilityMinor},
  };
  for (const auto &[name, attribute] : attributes) {
    cuda::check(driver, driver.deviceGetAttribute(&properties.attributes[name], attribute, device), "cuDeviceGetAttribute");
  }
  return properties;
}

/// libraries → { driverVersion, devices: [...], peers: boolean[] (reader × owner) }
Napi::Value probe(const Napi::CallbackInfo &info) {
  const auto env = info.Env();
  return env.GetInstanceData<AddonState>()->controlWorker(env).submit(
      env, [libraries = stringsArgument(info[0])]() -> Settle {
        const auto &driver = cuda::loadDriver(libraries);
        int count = 0;
        cuda::check(driver, driver.deviceGetCount(&count), "cuDeviceGetCount");
        std::vector<DeviceProperties> devices;
        for (int ordinal = 0; ordinal < count; ++ordinal) devices.push_back(describe(driver, ordinal));
        std::vector<bool> peers;
        for (int reader = 0; reader < count; ++reader) {
          for (int owner = 0; owner < count; ++owner) {
            cuda::Device readerDevice = 0;
            cuda::Device ownerDevice = 0;
            int can = reader == owner ? 1 : 0;
            if (reader != owner) {
              cuda::check(driver, driver.deviceGet(&readerDevice, reader), "cuDeviceGet");
              cuda::check(driver, driver.deviceGet(&ownerDevice, owner), "cuDeviceGet");
              cuda::check(driver, driver.deviceCanAccessPeer(&can, readerDevice, ownerDevice), "cuDeviceCanAccessPeer");
            }
            peers.push_back(can != 0);
          }
        }
        return [devices, peers, version = driver.version](Napi::Env env) -> Napi::Value {
          auto list = Napi::Array::New(env, devices.size());
          for (std::size_t index = 0; index < devices.size(); ++index) {
            const auto &device = devices[index];
            auto value = Napi::Object::New(env);
            value.Set("ordinal", device.ordinal);
            value.Set("name", device.name);
            value.Set("pciBusId", device.pciBusId);
            value.Set("uuid", device.uuid);
            value.Set("totalByteLength", static_cast<double>(device.totalByteLength));
            for (const auto &[name, number] : device.attributes) value.Set(name, number);
            list.Set(static_cast<std::uint32_t>(index), value);
          }
          auto flags = Napi::Array::New(env, peers.size());
          for (std::size_t index = 0; index < peers.size(); ++index) {
            flags.Set(static_cast<std::uint32_t>(index), Napi::Boolean::New(env, peers[index]));
          }
          auto value = Napi::Object::New(env);
          value.Set("driverVersion", version);
          value.Set("devices", list);
          value.Set("peers", flags);
          return value;
        };
      });
}

/// libraries, ordinals → NativeGroup. The ordinals are of distinct physical GPUs.
Napi::Value openGroup(const Napi::CallbackInfo &info) {
  const auto env = info.Env();
  auto worker = std::make_shared<Worker>(env, "tandem group");
  std::vector<int> ordinals;
  const auto list = info[1].As<Napi::Array>();
  for (std::uint32_t index = 0; index < list.Length(); ++index) {
    ordinals.push_back(list.Get(index).As<Napi::Number>().Int32Value());
  }
  // The settle function holds the worker until the group's object does.
  return worker->submit(env, [libraries = stringsArgument(info[0]), ordinals, worker]() -> Settle {
    auto failures = std::make_shared<cuda::ReleaseFailures>();
    auto group = std::make_shared<Group>(cuda::loadDriver(libraries), ordinals, failures);
    return [group, worker, failures](Napi::Env env) -> Napi::Value {
      GroupObject::Parts parts{worker, group, failures};
      return env.GetInstanceData<AddonState>()->groupConstructor.New({Napi::External<GroupObject::Parts>::New(env, &parts)});
    };
  });
}

/// libraries → [major, minor]
Napi::Value nvrtcVersion(const Napi::CallbackInfo &info) {
  const auto env = info.Env();
  return env.GetInstanceData<AddonState>()->compiler(env).submit(
      env, [libraries = stringsArgument(info[0])]() -> Settle {
        const auto found = nvrtc::version(libraries);
        return [found](Napi::Env env) -> Napi::Value {
          auto value = Napi::Array::New(env, 2);
          value.Set(0u, found.first);
          value.Set(1u, found.second);
          return value;
        };
      });
}

/// libraries, { source, name, options } → { compiled, log, image: Uint8Array }
Napi::Value nvrtcCompile(const Napi::CallbackInfo &info) {
  const auto env = info.Env();
  auto request = std::make_shared<nvrtc::Request>();
  request->libraries = stringsArgument(info[0]);
  const auto spec = info[1].As<Napi::Object>();
  request->source = spec.Get("source").As<Napi::String>();
  request->name = spec.Get("name").As<Napi::String>();
  request->options = stringsArgument(spec.Get("options"));
  return env.GetInstanceData<AddonState>()->compiler(env).submit(env, [request]() -> Settle {
    auto outcome = std::make_shared<nvrtc::Outcome>(nvrtc::compile(*request));
    return [outcome](Napi::Env env) -> Napi::Value {
      auto value = Napi::Object::New(env);
      value.Set("compiled", outcome->compiled);
      value.Set("log", outcome->log);
      auto image = Napi::Uint8Array::New(env, outcome->image.size());
      std::copy(outcome->image.begin(), outcome->image.end(), image.Data());
      value.Set("image", image);
      return value;
    };
  });
}

/// libraries → { driverVersion, devices: [{ index, uuid, pciBusId, name }] }
Napi::Value nvmlDevices(const Napi::CallbackInfo &info) {
  const auto env = info.Env();
  return env.GetInstanceData<AddonState>()->controlWorker(env).submit(
      env, [libraries = stringsArgument(info[0])]() -> Settle {
        const auto found = nvml::devices(libraries);
        const auto version = nvml::driverVersion(libraries);
        return [found, version](Napi::Env env) -> Napi::Value {
          auto list = Napi::Array::New(env, found.size());
          for (std::size_t index = 0; index < found.size(); ++index) {
            auto value = Napi::Object::New(env);
            value.Set("index", found[index].index);
            value.Set("uuid", found[index].uuid);
            value.Set("pciBusId", found[index].pciBusId);
            value.Set("name", found[index].name);
            list.Set(static_cast<std::uint32_t>(index), value);
          }
          auto value = Napi::Object::New(env);
          value.Set("driverVersion", version);
          value.Set("devices", list);
          return value;
        };
      });
}

/// libraries, uuid → readings; what the device does not report is absent
Napi::Value nvmlRead(const Napi::CallbackInfo &info) {
  const auto env = info.Env();
  return env.GetInstanceData<AddonState>()->controlWorker(env).submit(
      env, [libraries = stringsArgument(info[0]), uuid = info[1].As<Napi::String>().Utf8Value()]() -> Settle {
        const auto reading = nvml::read(libraries, uuid);
        return [reading](Napi::Env env) -> Napi::Value {
          auto value = Napi::Object::New(env);
          const std::pair<const char *, const std::optional<double> &> numbers[] = {
              {"computeUtilization", reading.computeUtilization},
              {"memoryUtilization", reading.memoryUtilization},
              {"memoryTotalByteLength", reading.memoryTotalByteLength},
              {"memoryFreeByteLength", reading.memoryFreeByteLength},
              {"memoryUsedByteLength", reading.memoryUsedByteLength},
              {"powerWatts", reading.powerWatts},
              {"powerLimitWatts", reading.powerLimitWatts},
              {"temperatureCelsius", reading.temperatureCelsius},
              {"fanPercent", reading.fanPercent},
          };
          for (const auto &[name, number] : numbers) {
            if (number) value.Set(name, *number);
          }
          if (reading.processes) {
            auto list = Napi::Array::New(env, reading.processes->size());
            for (std::size_t index = 0; index < reading.processes->size(); ++index) {
              const auto &process = (*reading.processes)[index];
              auto entry = Napi::Object::New(env);
              entry.Set("pid", process.pid);
              if (process.memoryByteLength) entry.Set("memoryByteLength", *process.memoryByteLength);
              if (!process.name.empty()) entry.Set("name", process.name);
              list.Set(static_cast<std::uint32_t>(index), entry);
            }
            value.Set("processes", list);
          }
          return value;
        };
      });
}

/// libraries, uuid → { remotePciBusIds, toSwitch }
Napi::Value nvmlLinks(const Napi::CallbackInfo &info) {
  const auto env = info.Env();
  return env.GetInstanceData<AddonState>()->controlWorker(env).submit(
      env, [libraries = stringsArgument(info[0]), uuid = info[1].As<Napi::String>().Utf8Value()]() -> Settle {
        const auto links = nvml::links(libraries, uuid);
        return [links](Napi::Env env) -> Napi::Value {
          auto list = Napi::Array::New(env, links.remotePciBusIds.size());
          for (std::size_t index = 0; index < links.remotePciBusIds.size(); ++index) {
            list.Set(static_cast<std::uint32_t>(index), links.remotePciBusIds[index]);
          }
          auto value = Napi::Object::New(env);
          value.Set("remotePciBusIds", list);
          value.Set("toSwitch", links.toSwitch);
          return value;
        };
      });
}

/// libraries, uuid, uuid → NVML's topology level, −1 when unknown
Napi::Value nvmlCommonAncestor(const Napi::CallbackInfo &info) {
  const auto env = info.Env();
  return env.GetInstanceData<AddonState>()->controlWorker(env).submit(
      env, [libraries = stringsArgument(info[0]), first = info[1].As<Napi::String>().Utf8Value(),
            second = info[2].As<Napi::String>().Utf8Value()]() -> Settle {
        const auto level = nvml::commonAncestor(libraries, first, second);
        return [level](Napi::Env env) -> Napi::Value { return Napi::Number::New(env, level); };
      });
}

Napi::Object initialize(Napi::Env env, Napi::Object exports) {
  auto *state = new AddonState();
  env.SetInstanceData(state);
  state->groupConstructor = Napi::Persistent(GroupObject::define(env));
  exports.Set("probe", Napi::Function::New<probe>(env));
  exports.Set("openGroup", Napi::Function::New<openGroup>(env));
  exports.Set("nvrtcVersion", Napi::Function::New<nvrtcVersion>(env));
  exports.Set("nvrtcCompile", Napi::Function::New<nvrtcCompile>(env));
  exports.Set("nvmlDevices", Napi::Function::New<nvmlDevices>(env));
  exports.Set("nvmlRead", Napi::Function::New<nvmlRead>(env));
  exports.Set("nvmlLinks", Napi::Function::New<nvmlLinks>(env));
  exports.Set("nvmlCommonAncestor", Napi::Function::New<nvmlCommonAncestor>(env));
  return exports;
}

} // namespace

} // namespace tandem

static Napi::Object initialize(Napi::Env env, Napi::Object exports) { return tandem::initialize(env, exports); }
NODE_API_MODULE(tandem_cuda, initialize)
