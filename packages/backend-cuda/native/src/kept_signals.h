#pragma once

namespace tandem {

/// Preserves the handlers of SIGINT and SIGTERM around a call of NVRTC. NVRTC (seen in 13.0.88) temporarily
/// replaces both and restores them with `signal`, which loses the flags of a handler. Node's own handlers
/// raise their signal again and rely on SA_RESETHAND: without that flag they raise it forever, and the
/// process never ends. Such a handler, which only resets the terminal, is replaced by the default action
/// while any NVRTC call is in progress. NVRTC may undo changes that others make to these two signals in the
/// meantime.
class KeptSignals {
public:
  KeptSignals();
  ~KeptSignals();
  KeptSignals(const KeptSignals &) = delete;
  KeptSignals &operator=(const KeptSignals &) = delete;
};

} // namespace tandem
