#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

namespace tandem {

/// Signals kernels to leave when their time limit is over. Uses a separate thread, because the group's thread
/// may be in a driver call that waits until the kernel has ended.
class Watchdog {
public:
  using Clock = std::chrono::steady_clock;
  Watchdog() : thread_([this] { loop(); }) {}
  ~Watchdog() {
    {
      std::lock_guard lock(mutex_);
      ended_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  Watchdog(const Watchdog &) = delete;
  Watchdog &operator=(const Watchdog &) = delete;

  /// A word in host memory, and the time at which it is to be written. It is watched as long as the object
  /// exists.
  class Watched {
  public:
    Watched(Watchdog &watchdog, void *word) : watchdog_(watchdog), word_(static_cast<std::uint32_t *>(word)) {
      {
        std::lock_guard lock(watchdog_.mutex_);
        watchdog_.watched_.insert(this);
      }
      watchdog_.wake_.notify_one();
    }
    ~Watched() {
      std::lock_guard lock(watchdog_.mutex_);
      watchdog_.watched_.erase(this);
    }
    Watched(const Watched &) = delete;
    Watched &operator=(const Watched &) = delete;

    void due(Clock::time_point when) { due_.store(when.time_since_epoch().count(), std::memory_order_relaxed); }
    void neverDue() { due_.store(never, std::memory_order_relaxed); }
    bool written() const { return __atomic_load_n(word_, __ATOMIC_SEQ_CST) != 0; }
    void write() { __atomic_store_n(word_, 1u, __ATOMIC_SEQ_CST); }

  private:
    friend class Watchdog;
    static constexpr Clock::rep never = Clock::duration::max().count();
    Watchdog &watchdog_;
    std::uint32_t *const word_;
    std::atomic<Clock::rep> due_{never};
  };

private:
  static constexpr auto interval = std::chrono::milliseconds(100);

  void loop() {
    std::unique_lock lock(mutex_);
    while (!ended_) {
      if (watched_.empty()) wake_.wait(lock, [this] { return ended_ || !watched_.empty(); });
      else wake_.wait_for(lock, interval);
      const auto now = Clock::now().time_since_epoch().count();
      for (auto *watched : watched_)
        if (watched->due_.load(std::memory_order_relaxed) < now) watched->write();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  bool ended_ = false;
  std::set<Watched *> watched_;
  std::thread thread_;
};

} // namespace tandem
