#include "transfer.h"

#include <algorithm>
#include <cstring>

#include "native_error.h"

namespace tandem {

Transfer::Transfer(mpi::Channel channel, Direction direction, MessageRegion region, int peer, int tag)
    : channel_(channel), direction_(direction), region_(region), peer_(peer), tag_(tag) {
  const auto total = region_.byteLength();
  const auto count = std::max<std::size_t>(1, (total + pieceByteLength - 1) / pieceByteLength);
  const bool dense = region_.dense();
  pieces_ = std::vector<Piece>(dense ? count : std::min<std::size_t>(count, 2));
  for (auto &piece : pieces_) {
    piece.transfer = this;
    if (!dense) piece.memory.resize(std::min(total, pieceByteLength));
  }
}

void Transfer::start(std::function<void()> finished) {
  finished_ = std::move(finished);
  nextOffset_ = 0;
  remaining_ = std::max<std::size_t>(1, (region_.byteLength() + pieceByteLength - 1) / pieceByteLength);
  for (auto &piece : pieces_) post(piece);
}

void Transfer::post(Piece &piece) {
  piece.offset = nextOffset_;
  piece.byteLength = std::min(pieceByteLength, region_.byteLength() - nextOffset_);
  nextOffset_ += piece.byteLength;
  // MPI uses the device that is current on this thread for its copies.
  if (region_.device != nullptr && !region_.device->use(region_.device->self))
    throw NativeError("device-lost", "The device that sends or receives a message was lost.");
  auto *data = region_.dense() ? region_.data + piece.offset : piece.memory.data();
  if (direction_ == Direction::receive) {
    channel_.receive(data, piece.byteLength, peer_, tag_, piece);
    return;
  }
  if (!region_.dense()) copyRows(data, piece.offset, piece.byteLength, true);
  channel_.send(data, piece.byteLength, peer_, tag_, piece);
}

void Transfer::pieceCompleted(Piece &piece) {
  if (!region_.dense() && direction_ == Direction::receive) copyRows(piece.memory.data(), piece.offset, piece.byteLength, false);
  if (nextOffset_ < region_.byteLength()) post(piece);
  if (--remaining_ == 0) {
    // Moved out: the callback may start this transfer again.
    const auto finished = std::move(finished_);
    finished();
  }
}

void Transfer::copyRows(std::byte *dense, std::size_t offset, std::size_t byteLength, bool pack) const {
  auto row = offset / region_.rowByteLength;
  auto column = offset % region_.rowByteLength;
  while (byteLength > 0) {
    const auto length = std::min(byteLength, region_.rowByteLength - column);
    auto *strided = region_.data + row * region_.rowByteStride + column;
    if (pack) std::memcpy(dense, strided, length);
    else std::memcpy(strided, dense, length);
    dense += length;
    byteLength -= length;
    ++row;
    column = 0;
  }
}

} // namespace tandem
