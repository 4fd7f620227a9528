// Failures on demand. FAKE_FAIL=SYMBOL:RESULT:N[:ANYTHING] makes the Nth call of a function, counted since the variable changed, return RESULT
// and do nothing else; FAKE_TRACE=FILE collects the names of all calls, one a line.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

/// What the call must return, or 0 where it is to do its work.
inline int injectedFailure(const char *symbol) {
  static std::mutex mutex;
  static std::string plan;
  static long calls = 0;
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
    calls = 0;
  }
  const auto length = std::strlen(symbol);
  if (plan.compare(0, length, symbol) != 0 || plan.size() <= length || plan[length] != ':') return 0;
  char *rest = nullptr;
  const long result = std::strtol(plan.c_str() + length + 1, &rest, 10);
  const long position = std::strtol(rest + 1, nullptr, 10);
  return ++calls == position ? static_cast<int>(result) : 0;
}

#define INJECTED(symbol)                                                                                               \
  if (const int failure = injectedFailure(symbol)) return failure
