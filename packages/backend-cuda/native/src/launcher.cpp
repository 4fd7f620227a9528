#include "launcher.h"

namespace tandem {

void Launcher::launch(void *self, TandemLaunchDone done, void *context) {
  const auto launcher = *static_cast<std::shared_ptr<Launcher> *>(self);
  const auto queued = launcher->post_([launcher, done, context] {
    const auto group = launcher->group_.lock();
    if (!group) {
      done(context, "The devices are closed.");
      return;
    }
    group->launch(launcher->id_, [done, context](const char *error) { done(context, error); });
    if (group->beginPolling()) poll(launcher);
  });
  if (!queued) done(context, "The devices are closed.");
}

/// Polls as a job that queues itself again, so that what others queue has its turn.
void Launcher::poll(const std::shared_ptr<Launcher> &launcher) {
  launcher->post_([launcher] {
    const auto group = launcher->group_.lock();
    if (!group) return;
    if (!launcher->stopping_() && group->pollLaunches()) poll(launcher);
    else group->endPolling();
  });
}

} // namespace tandem
