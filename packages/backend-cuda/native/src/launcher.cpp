#include "launcher.h"

#include <new>

namespace tandem {

namespace {

void fails(TandemLaunchDone done, void *context, const NativeError &error) {
  const TandemLaunchEnd end{error.what(), error.code.c_str(), error.result, 0};
  done(context, &end);
}

NativeError closed() { return {"group-lost", "The devices have been closed."}; }

/// Has the thread behind `post` start work. `start` either throws, or calls `done` once, then or later: so a
/// launch has one end, whatever fails.
template <typename Post, typename Start> void startOn(const Post &post, TandemLaunchDone done, void *context, Start start) {
  try {
    const auto queued = post([=] {
      try {
        start();
      } catch (...) {
        fails(done, context, currentError());
      }
    });
    if (!queued) throw closed();
  } catch (...) {
    fails(done, context, currentError());
  }
}

} // namespace

void Launcher::launch(void *self, TandemLaunchDone done, void *context) {
  const auto launcher = *static_cast<std::shared_ptr<Launcher> *>(self);
  startOn(launcher->post_, done, context, [launcher, done, context] {
    const auto group = launcher->group_.lock();
    if (!group) throw closed();
    // The queued poll comes after this job, so after the launch.
    if (!group->polls()) {
      poll(launcher);
      group->setPolls(true);
    }
    group->launch(launcher->id_, [done, context](const NativeError *error) {
      const TandemLaunchEnd end{};
      if (error == nullptr) done(context, &end);
      else fails(done, context, *error);
    });
  });
}

/// Polls as a job that queues itself again, so that what others queue has its turn.
void Launcher::poll(const std::shared_ptr<Launcher> &launcher) {
  launcher->post_([launcher] {
    const auto group = launcher->group_.lock();
    if (!group) return;
    while (!launcher->stopping_() && group->pollLaunches()) {
      try {
        poll(launcher);
        return;
      } catch (const std::bad_alloc &) {
        // Memory for a job may be available later.
      }
    }
    group->setPolls(false);
  });
}

void RunLauncher::launch(void *self, TandemLaunchDone done, void *context) {
  const auto launcher = *static_cast<std::shared_ptr<RunLauncher> *>(self);
  startOn(launcher->post_, done, context, [launcher, done, context] {
    const auto group = launcher->group_.lock();
    if (!group || launcher->stopping_()) throw closed();
    TandemLaunchEnd end{};
    end.seconds = group->run(launcher->request_).seconds;
    done(context, &end);
  });
}

} // namespace tandem
