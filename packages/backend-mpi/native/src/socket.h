#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tandem {

/// A file descriptor that closes itself.
class Descriptor {
public:
  Descriptor() = default;
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(Descriptor &&other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor &operator=(Descriptor &&other) noexcept;
  ~Descriptor() { close(); }
  int get() const { return value_; }
  bool isOpen() const { return value_ >= 0; }
  void close();

private:
  int value_ = -1;
};

/// Addresses at which other hosts may reach this one, and the loopback address last.
std::vector<std::string> localAddresses();
/// Listens at every address on a port that the system chooses. Throws NativeError.
Descriptor listenAnywhere(std::uint16_t &port);
/// The first of `addresses` that accepts a connection within `milliseconds`; not open if none does, or once
/// there is something to read from `interrupted`.
Descriptor connectToAny(const std::vector<std::string> &addresses, std::uint16_t port, int milliseconds, const Descriptor &interrupted);
/// Not blocking, no delay, and dead within about ten seconds when the other host stops answering: keepalive
/// after 5 s, then each second, three times; data that stays unacknowledged for 10 s ends the connection too.
/// A stopped process is not dead: its kernel answers.
void watch(const Descriptor &socket);
/// Sends all of it, waiting at most a second for room; false where the connection is gone.
bool sendAll(const Descriptor &socket, const void *data, std::size_t byteLength);

} // namespace tandem
