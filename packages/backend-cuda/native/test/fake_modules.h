// Modules of the fake driver: images of the fake NVRTC, which are libraries, and PTX, whose kernels do nothing.
// Included once, by fake_cuda.cpp.
#pragma once
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>

#include "fake_machine.h"
#include "fake_signatures.h"

namespace {

/// The library with these bytes, which the fake NVRTC gave this name: one for all modules of an image that
/// are loaded at a time. Those of many kernels together would take more mappings than a process may have.
FakeLibrary libraryOf(const std::string &name, const std::string &bytes) {
  static std::mutex mutex;
  static auto *loaded = new std::map<std::string, std::weak_ptr<void>>();
  std::lock_guard lock(mutex);
  for (auto entry = loaded->begin(); entry != loaded->end();) entry = entry->second.expired() ? loaded->erase(entry) : std::next(entry);
  auto &known = (*loaded)[name + " " + std::to_string(std::hash<std::string>{}(bytes))];
  if (auto library = known.lock()) return library;
  auto path = "/tmp/tandem-fake-" + std::to_string(getpid()) + "-XXXXXX";
  const int file = mkstemp(path.data());
  if (file < 0) return nullptr;
  void *handle = nullptr;
  if (write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size())) handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  close(file);
  unlink(path.c_str());
  if (handle == nullptr) return nullptr;
  const FakeLibrary library(handle, [](void *unused) {
    if (auto *unload = reinterpret_cast<void (*)()>(dlsym(unused, "fake_unload"))) unload();
    dlclose(unused);
  });
  known = library;
  return library;
}
std::atomic<long> liveModules{0};
Result fModuleLoadDataEx(Module *module, const void *image, unsigned, int *, void **) {
  STICKY;
  drainDevice(currentContext->device);
  if (liveModules.load() >= setting("FAKE_CUDA_MODULES", 1000000)) return errorOutOfMemory;
  auto loaded = std::make_unique<FakeModule>();
  loaded->device = currentContext->device;
  const std::string text(static_cast<const char *>(image));
  if (text.rfind("FAKE ", 0) == 0) {
    const auto end = text.find('\n');
    std::istringstream words(text.substr(0, end));
    std::string name;
    std::size_t count;
    words >> name >> name >> count;
    loaded->library = libraryOf(name, std::string(static_cast<const char *>(image) + end + 1, count));
    if (loaded->library == nullptr) return 209;
    while (words >> name >> count) loaded->entries[name] = count;
  } else if (text.rfind(".version", 0) == 0) {
    forEachSignature(text, ".entry ", [&](const std::string &name, std::size_t parameters) { loaded->entries[name] = parameters; });
  } else {
    return 209;
  }
  ++liveModules;
  count(loaded->device, "module", 1);
  *module = reinterpret_cast<Module>(loaded.release());
  return 0;
}
Result fModuleUnload(Module module) {
  drainDevice(reinterpret_cast<FakeModule *>(module)->device);
  --liveModules;
  count(reinterpret_cast<FakeModule *>(module)->device, "module", -1);
  delete reinterpret_cast<FakeModule *>(module);
  return 0;
}
Result fModuleGetFunction(Function *function, Module module, const char *name) {
  auto *owner = reinterpret_cast<FakeModule *>(module);
  const auto found = owner->entries.find(name);
  if (found == owner->entries.end()) return 500;
  auto made = std::make_unique<FakeFunction>();
  made->name = name;
  made->parameterCount = found->second;
  made->device = owner->device;
  if (owner->library != nullptr) {
    made->entry = dlsym(owner->library.get(), name);
    made->launchGrid = reinterpret_cast<void (*)(const unsigned *, void *const *)>(dlsym(owner->library.get(), "fake_launch"));
    if (made->launchGrid != nullptr) made->entry = reinterpret_cast<void *>(made->launchGrid);
    made->setThread = reinterpret_cast<void (*)(const unsigned *)>(dlsym(owner->library.get(), "fake_set_thread"));
    made->fault = static_cast<int *>(dlsym(owner->library.get(), "fake_fault"));
    if (made->entry == nullptr) return 500;
  }
  *function = reinterpret_cast<Function>(made.get());
  owner->functions.push_back(std::move(made));
  return 0;
}
Result fFuncGetAttribute(int *value, int, Function) {
  *value = static_cast<int>(setting("FAKE_CUDA_LOCAL_BYTES", 0));
  return 0;
}
Result fFuncSetAttribute(Function function, int, int value) {
  reinterpret_cast<FakeFunction *>(function)->dynamicShared = value;
  return 0;
}

} // namespace
