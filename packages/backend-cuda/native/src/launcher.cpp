#include "launcher.h"

namespace tandem {

namespace {

void fails(TandemLaunchDone done, void *context, const NativeError &error) {
  const TandemLaunchEnd end{error.what(), error.code.c_str(), error.result, 0};
  done(context, &end);
}

NativeError closed() { return {"device-lost", "The devices are closed."}; }

} // namespace

void Launcher::launch(void *self, TandemLaunchDone done, void *context) {
  const auto launcher = *static_cast<std::shared_ptr<Launcher> *>(self);
  const auto queued = launcher->post_([launcher, done, context] {
    const auto group = launcher->group_.lock();
    if (!group) {
      fails(done, context, closed());
      return;
    }
    group->launch(launcher->id_, [done, context](const char *error) {
      const TandemLaunchEnd end{error, "driver", 0, 0};
      done(context, &end);
    });
    if (group->beginPolling()) poll(launcher);
  });
  if (!queued) fails(done, context, closed());
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

void RunLauncher::launch(void *self, TandemLaunchDone done, void *context) {
  const auto launcher = *static_cast<std::shared_ptr<RunLauncher> *>(self);
  const auto queued = launcher->post_([launcher, done, context] {
    TandemLaunchEnd end{};
    try {
      const auto group = launcher->group_.lock();
      if (!group || launcher->stopping_()) throw closed();
      end.seconds = group->run(launcher->request_).seconds;
    } catch (const NativeError &error) {
      fails(done, context, error);
      return;
    } catch (const std::exception &error) {
      fails(done, context, {"driver", error.what()});
      return;
    }
    done(context, &end);
  });
  if (!queued) fails(done, context, closed());
}

} // namespace tandem
