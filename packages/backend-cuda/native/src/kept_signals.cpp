#include "kept_signals.h"

#include <csignal>
#include <mutex>

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

} // namespace

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
    // Any other handler was set by someone else in the meantime, and is kept.
    if (now.sa_handler == (kept.isReplaced() ? SIG_DFL : kept.before.sa_handler)) sigaction(kept.signal, &kept.before, nullptr);
  }
}

} // namespace tandem
