#include "host_blocks.h"

#include <algorithm>
#include <bit>

#include "host_mapping.h"

namespace tandem {

namespace {

constexpr std::size_t pageByteLength = 4096;

} // namespace

std::size_t HostBlocks::classOf(std::size_t byteLength) {
  if (byteLength > largestKept) return byteLength;
  const auto step = std::max(pageByteLength, std::bit_floor(std::max<std::size_t>(byteLength, 1)) / 4);
  return (std::max<std::size_t>(byteLength, 1) + step - 1) / step * step;
}

HostBlocks::Block HostBlocks::take(std::size_t byteLength) {
  const auto size = classOf(byteLength);
  {
    std::lock_guard lock(mutex_);
    if (const auto found = spare_.find(size); found != spare_.end()) {
      auto block = std::move(found->second);
      spare_.erase(found);
      keptByteLength_ -= size;
      return block;
    }
  }
  return {mapPages(size), size, false};
}

bool HostBlocks::keep(const Block &block) {
  std::lock_guard lock(mutex_);
  if (block.byteLength > largestKept || keptByteLength_ + block.byteLength > mostKept) return false;
  spare_.emplace(block.byteLength, Block{block.pages, block.byteLength, true});
  keptByteLength_ += block.byteLength;
  return true;
}

std::vector<HostBlocks::Block> HostBlocks::takeAll() {
  std::lock_guard lock(mutex_);
  std::vector<Block> blocks;
  for (auto &[size, block] : spare_) blocks.push_back(std::move(block));
  spare_.clear();
  keptByteLength_ = 0;
  return blocks;
}

} // namespace tandem
