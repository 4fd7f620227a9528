// Functions of libraries that are opened at run time.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tandem {

struct ImportEntry;

/// A library's functions are members of a struct that derives from this; each adds itself to the list.
struct ImportTable {
  ImportTable() = default;
  ImportTable(const ImportTable &) = delete;
  ImportTable &operator=(const ImportTable &) = delete;
  std::vector<ImportEntry *> entries;
};

struct ImportEntry {
  ImportEntry(ImportTable *table, const char *name, int version = 0) : name(name), version(version) {
    table->entries.push_back(this);
  }
  /// The symbol, which messages name too.
  const char *name;
  /// The version of the interface that declares the parameters, if the library has several versions of the symbol.
  int version;
  void *address = nullptr;
};

template <typename Signature> struct Import;
template <typename Result, typename... Parameters> struct Import<Result(Parameters...)> : ImportEntry {
  using ImportEntry::ImportEntry;
  Result operator()(Parameters... arguments) const {
    return reinterpret_cast<Result (*)(Parameters...)>(address)(arguments...);
  }
};

/// The result of `load` for `candidates`, which is called once a process for each list and kept until the
/// process ends.
template <typename Library>
const Library &loadOnce(const std::vector<std::string> &candidates,
                        std::unique_ptr<Library> (*load)(const std::vector<std::string> &)) {
  static std::mutex mutex;
  static auto *loaded = new std::map<std::vector<std::string>, std::unique_ptr<Library>>();
  std::lock_guard lock(mutex);
  auto &known = (*loaded)[candidates];
  if (!known) known = load(candidates);
  return *known;
}

} // namespace tandem
