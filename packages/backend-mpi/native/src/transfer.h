#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "tandem_device_memory.h"
#include "mpi.h"

namespace tandem {

/// `rows` runs of `rowByteLength` bytes, `rowByteStride` apart, of host memory; or dense memory of `device`,
/// whose address the host must not dereference.
struct MessageRegion {
  std::byte *data = nullptr;
  std::size_t rows = 0;
  std::size_t rowByteLength = 0;
  std::size_t rowByteStride = 0;
  const TandemDeviceMemory *device = nullptr;

  std::size_t byteLength() const { return rows * rowByteLength; }
  bool dense() const { return rows <= 1 || rowByteStride == rowByteLength; }
};

/// One message between memory of two ranks. It sends the region's bytes, row after row, in pieces that depend
/// only on the total length, so both ends divide it into the same pieces. Dense memory is sent and received in
/// place; rows with gaps go through two pieces of memory, so that packing one overlaps with sending the other.
class Transfer {
public:
  enum class Direction { send, receive };

  Transfer(mpi::Channel channel, Direction direction, MessageRegion region, int peer, int tag);
  Transfer(const Transfer &) = delete;
  Transfer &operator=(const Transfer &) = delete;

  /// Posts the message; may be called again after it completes. `finished` is called, from a poll, once its
  /// bytes have arrived or its memory may be reused.
  void start(std::function<void()> finished);

  int peer() const { return peer_; }
  bool active() const { return remaining_ > 0; }

  static constexpr std::size_t pieceByteLength = std::size_t{4} << 20;

private:
  struct Piece final : mpi::Completion {
    Transfer *transfer = nullptr;
    std::size_t offset = 0;
    std::size_t byteLength = 0;
    std::vector<std::byte> memory;
    void completed() override { transfer->pieceCompleted(*this); }
  };

  void post(Piece &piece);
  void pieceCompleted(Piece &piece);
  /// Copies bytes [offset, offset + byteLength) of the dense message from or to the rows.
  void copyRows(std::byte *dense, std::size_t offset, std::size_t byteLength, bool pack) const;

  mpi::Channel channel_;
  Direction direction_;
  MessageRegion region_;
  int peer_;
  int tag_;
  std::vector<Piece> pieces_;
  std::size_t nextOffset_ = 0;
  std::size_t remaining_ = 0;
  std::function<void()> finished_;
};

} // namespace tandem
