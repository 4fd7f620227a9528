#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace tandem {

/// Pages for buffers of host memory, by size class. Unlocking pages waits for the GPU, so a block that is
/// given back stays locked for whoever asks for its class next. Any thread.
class HostBlocks {
public:
  struct Block {
    std::shared_ptr<void> pages;
    /// Of its class.
    std::size_t byteLength = 0;
    /// Whether it comes locked.
    bool locked = false;
  };

  /// The size of the blocks that hold so many bytes: a quarter more at most, where that is several pages.
  /// Blocks above `largestKept` have no class.
  static std::size_t classOf(std::size_t byteLength);
  /// A spare block, which holds zeros, or else new pages. Throws std::bad_alloc.
  Block take(std::size_t byteLength);
  /// Keeps a locked block that holds zeros. False where it is too large, or enough is kept: the caller
  /// unlocks it.
  bool keep(const Block &block);
  /// All spare blocks, for the caller to unlock.
  std::vector<Block> takeAll();

private:
  static constexpr std::size_t largestKept = std::size_t{64} << 20;
  static constexpr std::size_t mostKept = std::size_t{256} << 20;

  std::mutex mutex_;
  std::multimap<std::size_t, Block> spare_;
  std::size_t keptByteLength_ = 0;
};

} // namespace tandem
