#pragma once

namespace tandem {

/// Preserves the handlers of SIGINT and SIGTERM around a call of NVRTC. NVRTC (seen in 13.0.88) temporarily
/// replaces both and restores them with `signal`, which loses the flags of a handler. Node's own handlers
/// raise their signal again and rely on SA_RESETHAND: without that flag they raise it forever, and the
/// process never ends. Such a handler, which only resets the terminal, is replaced by the default action
/// while any NVRTC call is in progress. NVRTC may undo changes that others make to these two signals in the
/// meantime. Copies of NVRTC that compile at the same time may restore each other's handler; when the last
/// call returns, a handler inside NVRTC is replaced by the one from before the first call.
class KeptSignals {
public:
  /// Declares that `function` is one of NVRTC, or of a copy of it.
  static void includeLibrary(const void *function);
  KeptSignals();
  ~KeptSignals();
  KeptSignals(const KeptSignals &) = delete;
  KeptSignals &operator=(const KeptSignals &) = delete;
};

} // namespace tandem
