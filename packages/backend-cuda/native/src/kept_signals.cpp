#include "kept_signals.h"

#include <dlfcn.h>

#include <algorithm>
#include <csignal>
#include <mutex>
#include <vector>

namespace tandem {

namespace {

struct Kept {
  const int signal;
  struct sigaction before {};

  bool isReplaced() const { return (before.sa_flags & SA_RESETHAND) != 0; }
};

std::mutex mutex;
int callsUnderWay = 0;
Kept keptSignals[] = {{SIGINT}, {SIGTERM}};
/// Where NVRTC and its copies begin.
std::vector<const void *> bases;

const void *baseOf(const void *function) {
  Dl_info info{};
  return dladdr(function, &info) != 0 ? info.dli_fbase : nullptr;
}

bool isOfNvrtc(void (*handler)(int)) {
  const auto *base = baseOf(reinterpret_cast<const void *>(handler));
  return base != nullptr && std::find(bases.begin(), bases.end(), base) != bases.end();
}

} // namespace

void KeptSignals::includeLibrary(const void *function) {
  std::lock_guard lock(mutex);
  if (const auto *base = baseOf(function)) bases.push_back(base);
}

KeptSignals::KeptSignals() {
  std::lock_guard lock(mutex);
  if (callsUnderWay++ > 0) return;
  for (auto &kept : keptSignals) {
    sigaction(kept.signal, nullptr, &kept.before);
    struct sigaction byDefault {};
    byDefault.sa_handler = SIG_DFL;
    if (kept.isReplaced()) sigaction(kept.signal, &byDefault, nullptr);
  }
}

KeptSignals::~KeptSignals() {
  std::lock_guard lock(mutex);
  if (--callsUnderWay > 0) return;
  for (const auto &kept : keptSignals) {
    struct sigaction now {};
    sigaction(kept.signal, nullptr, &now);
    const auto expected = kept.isReplaced() ? SIG_DFL : kept.before.sa_handler;
    // Any other handler was set by someone else in the meantime, and is kept.
    if (now.sa_handler == expected || isOfNvrtc(now.sa_handler)) sigaction(kept.signal, &kept.before, nullptr);
  }
}

} // namespace tandem
