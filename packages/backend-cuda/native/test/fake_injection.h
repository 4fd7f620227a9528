// Failures on demand. FAKE_FAIL=SYMBOL:RESULT:N[:ANYTHING] makes the Nth call of a function, counted since
// the variable changed, return RESULT and do nothing else; several stand in a row, with spaces between them.
// Where RESULT is -1 it throws std::bad_alloc instead, which stands for code of ours around the call.
// FAKE_TRACE=FILE collects the names of all calls, one a line.
#pragma once
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <sstream>
#include <string>

/// Whether any call was ever made to fail.
inline std::atomic<bool> &failuresInjected() {
  static std::atomic<bool> any{false};
  return any;
}

/// What the call must return, or 0 if it should do its work.
inline int injectedFailure(const char *symbol) {
  static std::mutex mutex;
  static auto &plan = *new std::string();
  static auto &calls = *new std::map<std::string, long>();
  std::lock_guard lock(mutex);
  if (const char *path = getenv("FAKE_TRACE"); path != nullptr && *path != '\0') {
    if (FILE *file = fopen(path, "a")) {
      fprintf(file, "%s\n", symbol);
      fclose(file);
    }
  }
  const char *wanted = getenv("FAKE_FAIL");
  if (wanted == nullptr) wanted = "";
  if (plan != wanted) {
    plan = wanted;
    calls.clear();
  }
  const std::string name = std::string(symbol) + ":";
  std::istringstream failures(plan);
  for (std::string failure; failures >> failure;) {
    if (failure.compare(0, name.size(), name) != 0) continue;
    char *rest = nullptr;
    const long result = std::strtol(failure.c_str() + name.size(), &rest, 10);
    const long position = std::strtol(rest + 1, nullptr, 10);
    if (++calls[name] != position) return 0;
    failuresInjected().store(true);
    if (result == -1) throw std::bad_alloc();
    return static_cast<int>(result);
  }
  return 0;
}

#define INJECTED(symbol)                                                                                               \
  if (const int failure = injectedFailure(symbol)) return failure
