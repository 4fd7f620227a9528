// What a plain program without Tandem takes for messages from host memory to host memory between two ranks,
// over the same tables of functions: rank 0 sends BYTES to rank 1 COUNT times, each time waiting until MPI
// has taken the message. Prints seconds a message.
//   c++ -O2 -std=c++20 -I ../native/src plain-messages.cpp -ldl -o plain-messages
//   mpirun -n 2 plain-messages LIBRARY BYTES COUNT
#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <vector>

#include "mpi_abi.h"

namespace {

using namespace tandem::mpi;

void *find(void *library, const char *name) { return dlsym(library, name); }

template <class Abi> int measure(void *library, std::size_t byteLength, int count) {
  Abi abi{};
  Functions<Abi> functions{};
  if (!abi.resolve(find, library) || !functions.resolve(find, library).empty()) return 1;
  int provided = 0;
  int rank = 0;
  functions.initThread(nullptr, nullptr, Abi::threadFunneled, &provided);
  functions.commRank(abi.world, &rank);
  std::vector<std::byte> memory(byteLength, std::byte{1});
  const auto message = [&](void *data, std::size_t length, int peer, bool send) {
    typename Abi::Request request;
    typename Abi::Status status;
    const int size = static_cast<int>(length);
    if (send) functions.isend(data, size, abi.byte, peer, 1, abi.world, &request);
    else functions.irecv(data, size, abi.byte, peer, 1, abi.world, &request);
    functions.waitall(1, &request, &status);
  };
  // One message first, so that connections and pages are there.
  message(memory.data(), byteLength, 1 - rank, rank == 0);
  message(memory.data(), 1, 1 - rank, rank == 1);
  const auto begin = std::chrono::steady_clock::now();
  for (int index = 0; index < count; ++index) message(memory.data(), byteLength, 1 - rank, rank == 0);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  if (rank == 1) std::printf("%.9f\n", seconds.count() / count);
  functions.finalize();
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) return 1;
  const auto byteLength = static_cast<std::size_t>(std::atoll(argv[2]));
  const int count = std::atoi(argv[3]);
  if (std::strstr(argv[1], "libmpi_abi") != nullptr) return measure<StandardAbi>(library, byteLength, count);
  if (dlsym(library, "ompi_mpi_comm_world") != nullptr) return measure<OpenMpiAbi>(library, byteLength, count);
  return measure<MpichAbi>(library, byteLength, count);
}
