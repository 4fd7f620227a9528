#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "transfer.h"

namespace tandem {

/// Sends bytes of one rank to another one, or to all along a binomial tree. Ranks that take no part do not
/// create one.
class Delivery {
public:
  static constexpr int toAll = -1;

  Delivery(mpi::Channel channel, int from, int to, int tag, MessageRegion bytes);
  /// `finished` is called once this rank's part is complete, possibly before this returns.
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
