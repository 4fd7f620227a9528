#pragma once

namespace tandem {

/// Keeps what SIGINT and SIGTERM do as it was, around a call of NVRTC. NVRTC (seen in 13.0.88) takes both
/// over for a moment, and gives them back by `signal`, which loses the flags of a handler. Node's own
/// handlers raise their signal again and count on SA_RESETHAND: without that flag they raise it for ever, and
/// the process never ends. Such a handler, which only resets the terminal, is replaced by the default action
/// while any NVRTC call is under way. What others do to these two signals meanwhile, NVRTC may undo.
class KeptSignals {
public:
  KeptSignals();
  ~KeptSignals();
  KeptSignals(const KeptSignals &) = delete;
  KeptSignals &operator=(const KeptSignals &) = delete;
};

} // namespace tandem
