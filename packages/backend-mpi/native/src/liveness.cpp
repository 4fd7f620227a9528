#include "liveness.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "native_error.h"

namespace tandem {

namespace {

using namespace std::chrono_literals;

constexpr auto beatTime = 1s;
constexpr auto silentTime = 5s;
constexpr auto connectTime = 20s;
/// How long an ending rank tries to send its remaining frames.
constexpr auto lastWordsTime = 1s;

// A frame begins with one of these letters. In all but a heartbeat, the rank that the frame is about follows,
// and a text with its length.
constexpr char heartbeat = 'h';
constexpr char departure = 'l';
constexpr char ending = 'e';
constexpr char death = 'd';
constexpr char waiting = 'w';

/// Prints in one write, so that lines of several ranks do not mix.
void print(const std::string &line) {
  const auto text = line + "\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
}

/// Rank 0 needs one socket per rank, and the usual soft limit of 1,024 files would allow only about a
/// thousand ranks.
void allowManyFiles() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

} // namespace

Liveness::Liveness(Options options, Descriptor listener) : options_(std::move(options)), listener_(std::move(listener)) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) throw NativeError("driver", std::string("No pipe: ") + std::strerror(errno) + ".");
  wakeReader_ = Descriptor(ends[0]);
  wakeWriter_ = Descriptor(ends[1]);
  if (options_.rank == 0 && options_.size > 900) allowManyFiles();
  try {
    thread_ = std::thread([this] { main(); });
  } catch (const std::system_error &) {
    throw currentError();
  }
}

Liveness::~Liveness() {
  stop_ = true;
  [[maybe_unused]] const auto written = write(wakeWriter_.get(), "x", 1);
  if (thread_.joinable()) thread_.join();
}

void Liveness::leave(std::uint64_t group, const std::string &code, const std::string &reason) {
  request(departure, std::string(reinterpret_cast<const char *>(&group), sizeof group) + code + "\n" + reason);
}

void Liveness::sayWaiting(const std::string &text) { request(waiting, text); }

void Liveness::end() { request(ending, ""); }

void Liveness::request(char kind, std::string text) {
  {
    std::lock_guard lock(mutex_);
    requests_.emplace_back(kind, std::move(text));
  }
  [[maybe_unused]] const auto written = write(wakeWriter_.get(), "x", 1);
}

std::string Liveness::nameOf(int rank) const { return options_.names.at(static_cast<std::size_t>(rank)); }

bool Liveness::prints(int about) const { return options_.rank == (about == 0 ? 1 : 0); }

bool Liveness::connectAll() {
  const auto deadline = Clock::now() + connectTime;
  if (options_.rank == 0) {
    while (static_cast<int>(peers_.size()) < options_.size - 1) {
      if (stop_) return false;
      if (Clock::now() > deadline) {
        std::string missing;
        for (int rank = 1; rank < options_.size; ++rank) {
          if (peers_.count(rank) == 0) missing += (missing.empty() ? "" : ", ") + nameOf(rank);
        }
        options_.connected("These ranks did not connect to rank 0 at port " + std::to_string(options_.port) +
                           " within 20 s (is there a firewall between the hosts?): " + missing + ".");
        return false;
      }
      accept(deadline);
    }
    listener_.close();
  } else {
    auto socket = connectToAny(options_.addresses, options_.port, 20'000, wakeReader_);
    if (stop_) return false;
    const std::int32_t rank = options_.rank;
    watch(socket);
    if (!socket.isOpen() || !sendAll(socket, options_.token.data(), options_.token.size()) ||
        !sendAll(socket, &rank, sizeof rank)) {
      std::string tried;
      for (const auto &address : options_.addresses) tried += (tried.empty() ? "" : ", ") + address;
      options_.connected("Rank " + std::to_string(options_.rank) + " cannot reach rank 0 at " + tried + ", port " +
                         std::to_string(options_.port) + ".");
      return false;
    }
    peers_[0].socket = std::move(socket);
    peers_[0].heard = Clock::now();
  }
  options_.connected("");
  return true;
}

/// Accepts one connection, if there is one within 100 ms. Its first bytes identify the rank that connects.
bool Liveness::accept(Clock::time_point deadline) {
  pollfd polled[] = {{listener_.get(), POLLIN, 0}, {wakeReader_.get(), POLLIN, 0}};
  if (poll(polled, 2, 100) <= 0 || polled[0].revents == 0) return false;
  Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket.isOpen()) return false;
  std::string hello;
  const auto length = options_.token.size() + sizeof(std::int32_t);
  while (hello.size() < length && Clock::now() < deadline) {
    pollfd waiting{socket.get(), POLLIN, 0};
    char buffer[256];
    if (poll(&waiting, 1, 1'000) <= 0) return false;
    const auto received = recv(socket.get(), buffer, length - hello.size(), 0);
    if (received <= 0) return false;
    hello.append(buffer, static_cast<std::size_t>(received));
  }
  std::int32_t rank = 0;
  if (hello.size() < length || hello.compare(0, options_.token.size(), options_.token) != 0) return false;
  std::memcpy(&rank, hello.data() + options_.token.size(), sizeof rank);
  if (rank <= 0 || rank >= options_.size) return false;
  watch(socket);
  auto &peer = peers_[rank];
  peer.socket = std::move(socket);
  peer.heard = Clock::now();
  return true;
}

void Liveness::main() {
  try {
    loop();
  } catch (...) {
    try {
      options_.lost(std::string("The ranks can no longer watch each other: ") + currentError().what());
    } catch (...) {
      // There is no memory even for the message. The others notice this rank's end.
    }
  }
}

void Liveness::loop() {
  if (!connectAll()) return;
  auto nextBeat = Clock::now();
  auto last = Clock::now();
  while (!stop_) {
    flushRequests();
    const auto now = Clock::now();
    // This process itself was stopped, so the others were not silent.
    if (now - last > 3s) {
      for (auto &[rank, peer] : peers_) peer.heard = now;
    }
    last = now;
    if (now >= nextBeat) {
      beat(now);
      nextBeat = now + beatTime;
    }
    if (!death_.empty() && !told_ && now >= deathTime_ + std::chrono::milliseconds(options_.deathDelayMilliseconds)) {
      told_ = true;
      if (deathPrinted_) print("tandem: " + death_);
      options_.lost(death_);
    }
    std::vector<pollfd> polled{{wakeReader_.get(), POLLIN, 0}};
    std::vector<int> ranks{-1};
    for (auto &[rank, peer] : peers_) {
      if (peer.gone) continue;
      flush(rank, peer);
      if (peer.gone) continue;
      polled.push_back({peer.socket.get(), static_cast<short>(peer.output.empty() ? POLLIN : POLLIN | POLLOUT), 0});
      ranks.push_back(rank);
    }
    if (poll(polled.data(), polled.size(), 250) < 0 && errno != EINTR) return;
    if (polled[0].revents != 0) {
      char drained[64];
      while (read(wakeReader_.get(), drained, sizeof drained) > 0) {
      }
    }
    for (std::size_t index = 1; index < polled.size(); ++index) {
      if ((polled[index].revents & ~POLLOUT) != 0) readFrom(ranks[index], peers_.at(ranks[index]));
    }
  }
  flushRequests();
  flushLast();
}

void Liveness::beat(Clock::time_point now) {
  for (auto &[rank, peer] : peers_) {
    if (peer.gone) continue;
    // If the socket buffer of a stopped process is full, another heartbeat would add nothing.
    if (peer.output.empty()) peer.output += heartbeat;
    if (peer.hasLeft || peer.silent || now - peer.heard < silentTime) continue;
    peer.silent = true;
    if (prints(rank)) print("tandem: " + nameOf(rank) + " has been silent for 5 s; the others wait for it.");
  }
}

void Liveness::readFrom(int rank, Peer &peer) {
  char buffer[4096];
  for (;;) {
    const auto received = recv(peer.socket.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (received > 0) {
      peer.input.append(buffer, static_cast<std::size_t>(received));
      if (received == static_cast<ssize_t>(sizeof buffer)) continue;
      break;
    }
    if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) break;
    died(rank, peer,
         received == 0 || errno == ECONNRESET ? "ended unexpectedly" : std::string("is not reachable: ") + std::strerror(errno));
    break;
  }
  const auto now = Clock::now();
  if (peer.silent && !peer.gone) {
    peer.silent = false;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - peer.heard).count();
    if (prints(rank)) print("tandem: " + nameOf(rank) + " responded again after " + std::to_string(seconds) + " s.");
  }
  peer.heard = now;
  while (!peer.input.empty()) {
    if (peer.input[0] == heartbeat) {
      peer.input.erase(0, 1);
      continue;
    }
    std::int32_t about = 0;
    std::uint32_t length = 0;
    constexpr std::size_t head = 1 + sizeof about + sizeof length;
    if (peer.input.size() < head) return;
    std::memcpy(&about, peer.input.data() + 1, sizeof about);
    std::memcpy(&length, peer.input.data() + 1 + sizeof about, sizeof length);
    if (peer.input.size() < head + length) return;
    const char kind = peer.input[0];
    const auto text = peer.input.substr(head, length);
    peer.input.erase(0, head + length);
    if (about < 0 || about >= options_.size) continue;
    handle(rank, peer, kind, about, text);
  }
}

void Liveness::handle(int rank, Peer &peer, char kind, int about, const std::string &text) {
  if (options_.rank == 0) {
    for (auto &[other, otherPeer] : peers_) {
      if (other != rank && !otherPeer.gone) queueFrame(otherPeer, kind, about, text);
    }
  }
  if (kind == ending && rank == about) peer.hasLeft = true;
  if (kind == death) noteDeath(about, text);
  if (kind == waiting) options_.waiting(about, text);
  std::uint64_t group = 0;
  const auto code = text.find('\n', sizeof group);
  if (kind != departure || code == std::string::npos) return;
  std::memcpy(&group, text.data(), sizeof group);
  options_.left(about, group, text.substr(sizeof group, code - sizeof group), text.substr(code + 1));
}

void Liveness::died(int rank, Peer &peer, const std::string &how) {
  peer.gone = true;
  peer.socket.close();
  if (peer.hasLeft || leaving_) return;
  if (options_.rank == 0) {
    for (auto &[other, otherPeer] : peers_) {
      if (!otherPeer.gone) queueFrame(otherPeer, death, rank, how);
    }
  }
  noteDeath(rank, how);
}

void Liveness::noteDeath(int rank, const std::string &how) {
  if (!death_.empty()) return;
  death_ = nameOf(rank) + " " + how + ".";
  deathPrinted_ = prints(rank);
  deathTime_ = Clock::now();
}

void Liveness::queueFrame(Peer &peer, char kind, int about, const std::string &text) {
  const std::int32_t rank = about;
  const auto length = static_cast<std::uint32_t>(text.size());
  peer.output += kind;
  peer.output.append(reinterpret_cast<const char *>(&rank), sizeof rank);
  peer.output.append(reinterpret_cast<const char *>(&length), sizeof length);
  peer.output += text;
}

void Liveness::flush(int rank, Peer &peer) {
  std::size_t done = 0;
  while (done < peer.output.size()) {
    const auto sent = send(peer.socket.get(), peer.output.data() + done, peer.output.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) done += static_cast<std::size_t>(sent);
    else if (errno == EAGAIN || errno == EWOULDBLOCK) break;
    else if (errno != EINTR) {
      // The peer's last frames may still be unread. Reading them also detects the end of the connection.
      peer.output.clear();
      readFrom(rank, peer);
      return;
    }
  }
  peer.output.erase(0, done);
}

void Liveness::flushLast() {
  const auto deadline = Clock::now() + lastWordsTime;
  for (auto &[rank, peer] : peers_) {
    for (;;) {
      if (!peer.gone) flush(rank, peer);
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
      if (peer.gone || peer.output.empty() || left <= 0) break;
      pollfd writable{peer.socket.get(), POLLOUT, 0};
      poll(&writable, 1, static_cast<int>(left));
    }
  }
}

void Liveness::flushRequests() {
  std::vector<std::pair<char, std::string>> requests;
  {
    std::lock_guard lock(mutex_);
    requests.swap(requests_);
  }
  for (const auto &[kind, text] : requests) {
    leaving_ = leaving_ || kind == ending;
    for (auto &[rank, peer] : peers_) {
      if (!peer.gone) queueFrame(peer, kind, options_.rank, text);
    }
  }
}

} // namespace tandem
