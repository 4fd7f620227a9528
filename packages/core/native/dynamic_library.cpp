#include "dynamic_library.h"

#include <algorithm>
#include <dlfcn.h>

#include "native_error.h"

namespace tandem {

namespace {

void addOnce(std::vector<std::string> &list, const std::string &text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

std::string joined(const std::vector<std::string> &list, const char *last) {
  std::string text;
  for (std::size_t index = 0; index < list.size(); ++index) {
    if (index > 0) text += index + 1 == list.size() ? last : ", ";
    text += list[index];
  }
  return text;
}

/// "libx.so.2 or libx.so is not in the loader's path, /a or /b"
std::string notFound(const std::vector<std::string> &candidates) {
  std::vector<std::string> names;
  std::vector<std::string> folders;
  for (const auto &candidate : candidates) {
    const auto slash = candidate.rfind('/');
    addOnce(names, slash == std::string::npos ? candidate : candidate.substr(slash + 1));
    addOnce(folders, slash == std::string::npos ? "the loader's path" : candidate.substr(0, slash));
  }
  if (names.size() * folders.size() != candidates.size()) return joined(candidates, " or ") + " does not exist";
  return joined(names, " or ") + " is not in " + joined(folders, " or ");
}

} // namespace

DynamicLibrary::DynamicLibrary(const std::vector<std::string> &candidates) {
  std::vector<std::string> missing;
  for (const auto &candidate : candidates) {
    handle_ = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      path_ = candidate;
      return;
    }
    const char *error = dlerror();
    const std::string reason = error != nullptr ? error : candidate;
    // Where a library exists and lacks another one, the error names the other one.
    if (reason.rfind(candidate + ": cannot open shared object file: No such file", 0) == 0) {
      missing.push_back(candidate);
      continue;
    }
    if (!failures_.empty()) failures_ += "; ";
    failures_ += reason;
  }
  if (missing.empty()) return;
  if (!failures_.empty()) failures_ += "; ";
  failures_ += notFound(missing);
}

DynamicLibrary::~DynamicLibrary() {
  if (handle_ != nullptr && !kept_) dlclose(handle_);
}

void *DynamicLibrary::find(const char *name) const { return handle_ != nullptr ? dlsym(handle_, name) : nullptr; }

void resolve(ImportTable &library, const DynamicLibrary &opened, const std::string &what, const std::string &tooOld) {
  if (!opened.isOpen()) throw NativeError("unsupported", what + " cannot be loaded (" + opened.failures() + ").");
  for (auto *entry : library.entries) {
    if (auto *address = opened.find(entry->name)) entry->address = address;
    if (entry->address == nullptr) {
      throw NativeError("unsupported", what + " at " + opened.path() + " has no " + entry->name + tooOld + ".");
    }
  }
}

} // namespace tandem
