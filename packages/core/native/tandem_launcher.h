#pragma once
#include <cstdint>

/// How native code of one package starts device work of another, over and over and without JavaScript.
/// `NativeAccess.launcher` and `LinkedRuntime.repeat` give it as an external value. Plain C, because the
/// packages are built apart.
extern "C" {

struct TandemLaunchEnd {
  /// Null, or why the work fails: a sentence, with what the launcher's package says of its errors. Valid
  /// during the call.
  const char *error;
  const char *code;
  int result;
  /// By the devices' clock, if the launcher measures it.
  double seconds;
};

/// Called once a launch, from a thread of the launcher; it may launch again.
typedef void (*TandemLaunchDone)(void *context, const TandemLaunchEnd *end);

struct TandemLauncher {
  /// tandemLauncherVersion of the package that made it.
  std::uint32_t version;
  void *self;
  /// Starts the work once, behind everything that was started before on any device of the runtime; from any
  /// thread, without waiting. `done` tells when the work is complete, or why it fails.
  void (*launch)(void *self, TandemLaunchDone done, void *context);
};
}

constexpr std::uint32_t tandemLauncherVersion = 2;
