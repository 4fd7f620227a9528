#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace tandem {

/// Pages for buffers of host memory, by size class. Unlocking pages waits for the GPU, so a block that is
/// returned stays locked and is reused for the next request in its class. Callable from any thread.
class HostBlocks {
public:
  struct Block {
    std::shared_ptr<void> pages;
    /// The size of its class.
    std::size_t byteLength = 0;
    /// Whether the block is already locked.
    bool locked = false;
  };

  /// The size of the blocks for this many bytes: at most a quarter more, if that is several pages. Blocks
  /// above `largestKept` have no class.
  static std::size_t classOf(std::size_t byteLength);
  /// Returns a spare block, which holds zeros, or new pages. Throws std::bad_alloc.
  Block take(std::size_t byteLength);
  /// Keeps a locked block that holds zeros. Returns false if it is too large or enough blocks are kept; the
  /// caller then unlocks it.
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
