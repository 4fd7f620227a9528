#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "transfer.h"

namespace tandem {

/// Bytes of one rank that go to another one, or to all down a binomial tree. Ranks that take no part do not
/// make one.
class Delivery {
public:
  static constexpr int toAll = -1;

  Delivery(mpi::Channel channel, int from, int to, int tag, MessageRegion bytes);
  /// `finished` is called, perhaps before this returns, once this rank's part is done.
  void start(std::function<void()> finished);
  std::vector<int> waitsFor() const;

private:
  void forward();

  std::unique_ptr<Transfer> receive_;
  std::vector<std::unique_ptr<Transfer>> sends_;
  std::size_t unsent_ = 0;
  std::function<void()> finished_;
};

} // namespace tandem
