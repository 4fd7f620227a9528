#pragma once
#include <string>
#include <vector>

#include "imports.h"

namespace tandem {

/// A shared library opened at run time. One that is used stays open for the life of the process, see `keep`:
/// the driver has threads and exit handlers of its own. One that turns out to be of no use is closed.
class DynamicLibrary {
public:
  /// Opens the first of `candidates` that the loader accepts. Check `isOpen`; `failures` lists the candidates
  /// and their errors.
  explicit DynamicLibrary(const std::vector<std::string> &candidates);
  ~DynamicLibrary();
  DynamicLibrary(const DynamicLibrary &) = delete;
  DynamicLibrary &operator=(const DynamicLibrary &) = delete;
  /// From now on the library stays open.
  void keep() { kept_ = true; }
  bool isOpen() const { return handle_ != nullptr; }
  const std::string &path() const { return path_; }
  const std::string &failures() const { return failures_; }
  void *find(const char *name) const;
  /// The loader's handle, null if it is not open.
  void *handle() const { return handle_; }

private:
  void *handle_ = nullptr;
  bool kept_ = false;
  std::string path_;
  std::string failures_;
};

/// Fills the imports of `library`, which `what` names in messages. Throws NativeError `unsupported` if no
/// candidate was opened, or if the opened library lacks a function that has no address yet; the message then
/// ends with `tooOld`.
void resolve(ImportTable &library, const DynamicLibrary &opened, const std::string &what, const std::string &tooOld = "");

} // namespace tandem
