#pragma once
#include <functional>
#include <memory>

#include "tandem_launcher.h"
#include "group.h"
#include "worker.h"

namespace tandem {

/// A launch set of a group, for native code of another package. It keeps neither the group nor its thread
/// alive.
class Launcher {
public:
  Launcher(const Worker &worker, std::weak_ptr<Group> group, std::uint32_t id)
      : post_(worker.poster()), stopping_(worker.stopping()), group_(std::move(group)), id_(id) {}

  /// TandemLauncher::launch; `self` is a std::shared_ptr<Launcher> *.
  static void launch(void *self, TandemLaunchDone done, void *context);

private:
  static void poll(const std::shared_ptr<Launcher> &launcher);

  std::function<bool(std::function<void()>)> post_;
  std::function<bool()> stopping_;
  std::weak_ptr<Group> group_;
  std::uint32_t id_;
};

/// Starts a run of a group, in the same way as `Launcher`.
class RunLauncher {
public:
  RunLauncher(const Worker &worker, std::weak_ptr<Group> group, RunRequest request)
      : post_(worker.poster()), stopping_(worker.stopping()), group_(std::move(group)), request_(std::move(request)) {}

  static void launch(void *self, TandemLaunchDone done, void *context);

private:
  std::function<bool(std::function<void()>)> post_;
  std::function<bool()> stopping_;
  std::weak_ptr<Group> group_;
  RunRequest request_;
};

} // namespace tandem
