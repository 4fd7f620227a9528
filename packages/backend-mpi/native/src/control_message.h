#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "native_error.h"

namespace tandem {

using Bytes = std::vector<std::byte>;

/// Writes small records: numbers in the machine's byte order (the session checks that all ranks have the
/// same), texts with their length.
class RecordWriter {
public:
  template <class Number> RecordWriter &number(Number value) {
    const auto *bytes = reinterpret_cast<const std::byte *>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
    return *this;
  }
  RecordWriter &bytes(const Bytes &value) {
    number<std::uint64_t>(value.size());
    bytes_.insert(bytes_.end(), value.begin(), value.end());
    return *this;
  }
  RecordWriter &text(const std::string &value) {
    const auto *data = reinterpret_cast<const std::byte *>(value.data());
    return bytes(Bytes(data, data + value.size()));
  }
  Bytes take() { return std::move(bytes_); }

private:
  Bytes bytes_;
};

class RecordReader {
public:
  RecordReader(const std::byte *data, std::size_t byteLength) : data_(data), byteLength_(byteLength) {}
  template <class Number> Number number() {
    require(sizeof(Number));
    Number value;
    std::memcpy(&value, data_ + offset_, sizeof value);
    offset_ += sizeof value;
    return value;
  }
  Bytes bytes() {
    const auto length = static_cast<std::size_t>(number<std::uint64_t>());
    require(length);
    Bytes value(data_ + offset_, data_ + offset_ + length);
    offset_ += length;
    return value;
  }
  std::string text() {
    const auto value = bytes();
    return {reinterpret_cast<const char *>(value.data()), value.size()};
  }

private:
  void require(std::size_t length) const {
    if (length > byteLength_ - offset_) throw NativeError("device-lost", "A control message between ranks is truncated.");
  }
  const std::byte *data_;
  std::size_t byteLength_;
  std::size_t offset_ = 0;
};

/// Small messages between the engines of two ranks, in addition to the data.
enum class ControlKind : std::uint8_t { gatherUp, gatherDown, credit, abortRequest, abortFreeze, abortReport, abortStop };

} // namespace tandem
