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

/// Addresses at which other hosts may reach this one; the loopback address is last.
std::vector<std::string> localAddresses();
/// Listens at every address on a port that the system chooses. Throws NativeError.
Descriptor listenAnywhere(std::uint16_t &port);
/// A connection to the first of `addresses` that accepts one within `milliseconds`; not open if none does, or
/// if `interrupted` becomes readable before.
Descriptor connectToAny(const std::vector<std::string> &addresses, std::uint16_t port, int milliseconds, const Descriptor &interrupted);
/// Makes the socket non-blocking, without delay, and detects within about ten seconds that the other host has
/// stopped answering: keepalive after 5 s, then three times at intervals of 1 s; data that is unacknowledged
/// for 10 s also ends the connection. A stopped process does not count as dead, because its kernel still
/// answers.
void watch(const Descriptor &socket);
/// Sends all bytes, waiting at most a second each time for space in the socket's buffer; false if that fails
/// or the connection is gone.
bool sendAll(const Descriptor &socket, const void *data, std::size_t byteLength);

} // namespace tandem
