#include "dynamic_library.h"

#include <dlfcn.h>

namespace tandem {

DynamicLibrary::DynamicLibrary(const std::vector<std::string> &candidates) {
  for (const auto &candidate : candidates) {
    handle_ = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      path_ = candidate;
      return;
    }
    const char *reason = dlerror();
    if (!failures_.empty()) failures_ += "; ";
    failures_ += reason != nullptr ? reason : candidate;
  }
}

void *DynamicLibrary::find(const char *name) const { return handle_ != nullptr ? dlsym(handle_, name) : nullptr; }

} // namespace tandem
