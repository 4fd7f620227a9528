#include "socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "native_error.h"

namespace tandem {

namespace {

void setOption(int socket, int level, int name, int value) { setsockopt(socket, level, name, &value, sizeof value); }

} // namespace

Descriptor &Descriptor::operator=(Descriptor &&other) noexcept {
  if (this != &other) {
    close();
    value_ = std::exchange(other.value_, -1);
  }
  return *this;
}

void Descriptor::close() {
  if (value_ >= 0) ::close(value_);
  value_ = -1;
}

std::vector<std::string> localAddresses() {
  std::vector<std::string> addresses;
  ifaddrs *list = nullptr;
  if (getifaddrs(&list) == 0) {
    for (auto *entry = list; entry != nullptr; entry = entry->ifa_next) {
      if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != AF_INET) continue;
      if ((entry->ifa_flags & IFF_UP) == 0 || (entry->ifa_flags & IFF_LOOPBACK) != 0) continue;
      char text[INET_ADDRSTRLEN] = {};
      const auto *address = reinterpret_cast<const sockaddr_in *>(entry->ifa_addr);
      inet_ntop(AF_INET, &address->sin_addr, text, sizeof text);
      addresses.emplace_back(text);
    }
    freeifaddrs(list);
  }
  addresses.emplace_back("127.0.0.1");
  return addresses;
}

Descriptor listenAnywhere(std::uint16_t &port) {
  Descriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t length = sizeof address;
  if (!listener.isOpen() || bind(listener.get(), reinterpret_cast<sockaddr *>(&address), length) != 0 ||
      listen(listener.get(), SOMAXCONN) != 0 ||
      getsockname(listener.get(), reinterpret_cast<sockaddr *>(&address), &length) != 0) {
    throw NativeError("driver", std::string("Rank 0 cannot listen for the other ranks: ") + std::strerror(errno) + ".");
  }
  port = ntohs(address.sin_port);
  return listener;
}

Descriptor connectToAny(const std::vector<std::string> &addresses, std::uint16_t port, int milliseconds, const Descriptor &interrupted) {
  std::vector<Descriptor> attempts;
  for (const auto &text : addresses) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    if (inet_pton(AF_INET, text.c_str(), &address.sin_addr) != 1) continue;
    Descriptor attempt(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!attempt.isOpen()) continue;
    const int result = connect(attempt.get(), reinterpret_cast<sockaddr *>(&address), sizeof address);
    if (result == 0 || errno == EINPROGRESS) attempts.push_back(std::move(attempt));
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  while (!attempts.empty()) {
    std::vector<pollfd> polled;
    for (const auto &attempt : attempts) polled.push_back({attempt.get(), POLLOUT, 0});
    polled.push_back({interrupted.get(), POLLIN, 0});
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    if (left <= 0 || poll(polled.data(), polled.size(), static_cast<int>(left)) < 0) break;
    if (polled.back().revents != 0) break;
    for (std::size_t index = attempts.size(); index-- > 0;) {
      if (polled[index].revents == 0) continue;
      int error = 0;
      socklen_t length = sizeof error;
      getsockopt(attempts[index].get(), SOL_SOCKET, SO_ERROR, &error, &length);
      if (error == 0) return std::move(attempts[index]);
      attempts.erase(attempts.begin() + static_cast<std::ptrdiff_t>(index));
    }
  }
  return {};
}

void watch(const Descriptor &socket) {
  fcntl(socket.get(), F_SETFL, fcntl(socket.get(), F_GETFL) | O_NONBLOCK);
  setOption(socket.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  setOption(socket.get(), SOL_SOCKET, SO_KEEPALIVE, 1);
  setOption(socket.get(), IPPROTO_TCP, TCP_KEEPIDLE, 5);
  setOption(socket.get(), IPPROTO_TCP, TCP_KEEPINTVL, 1);
  setOption(socket.get(), IPPROTO_TCP, TCP_KEEPCNT, 3);
  setOption(socket.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, 10'000);
}

bool sendAll(const Descriptor &socket, const void *data, std::size_t byteLength) {
  const auto *bytes = static_cast<const char *>(data);
  while (byteLength > 0) {
    const auto sent = send(socket.get(), bytes, byteLength, MSG_NOSIGNAL);
    if (sent > 0) {
      bytes += sent;
      byteLength -= static_cast<std::size_t>(sent);
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return false;
    pollfd waiting{socket.get(), POLLOUT, 0};
    if (poll(&waiting, 1, 1'000) <= 0) return false;
  }
  return true;
}

} // namespace tandem
