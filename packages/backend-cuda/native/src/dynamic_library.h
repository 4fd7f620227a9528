#pragma once
#include <string>
#include <vector>

namespace tandem {

/// A shared library opened at run time and never closed: the driver keeps threads and exit handlers of its own.
class DynamicLibrary {
public:
  /// Opens the first of `candidates` that the loader accepts. Check `isOpen`; `failures` says what was tried and why not.
  explicit DynamicLibrary(const std::vector<std::string> &candidates);
  bool isOpen() const { return handle_ != nullptr; }
  const std::string &path() const { return path_; }
  const std::string &failures() const { return failures_; }
  void *find(const char *name) const;

private:
  void *handle_ = nullptr;
  std::string path_;
  std::string failures_;
};

} // namespace tandem
