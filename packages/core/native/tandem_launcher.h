#pragma once
#include <cstdint>

/// How native code of one package starts device work of another, over and over and without JavaScript. `Runtime.launcher` gives it as an
/// external value. Plain C, because the packages are built apart.
extern "C" {

/// `error` is null, or a sentence that is valid during the call. Called once a launch, from a thread of the launcher; it may launch again.
typedef void (*TandemLaunchDone)(void *context, const char *error);

struct TandemLauncher {
  /// tandemLauncherVersion of the package that made it.
  std::uint32_t version;
  void *self;
  /// Starts the work once, behind everything that was started before on any device of the runtime; from any thread, without waiting. `done`
  /// tells when the work is complete, or why it fails.
  void (*launch)(void *self, TandemLaunchDone done, void *context);
};
}

constexpr std::uint32_t tandemLauncherVersion = 1;
