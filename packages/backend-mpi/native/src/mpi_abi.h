#pragma once
// The part of MPI that this package needs, for the three binary interfaces in use. mpi.h is not included, so
// that one addon works with every MPI.
#include <cstddef>
#include <cstdint>
#include <string>

namespace tandem::mpi {

/// Finds a symbol of the opened library; returns null if it does not exist.
using Find = void *(*)(void *library, const char *name);

/// Open MPI 4 and later: handles are addresses of objects that the library exports.
struct OpenMpiAbi {
  using Comm = void *;
  using Datatype = void *;
  using Request = void *;
  using Errhandler = void *;
  struct Status {
    int source;
    int tag;
    int error;
    int cancelled;
    std::size_t byteLength;
  };
  static constexpr int anySource = -1;
  static constexpr int threadFunneled = 1;
  static constexpr int threadMultiple = 3;

  Comm world;
  Datatype byte;
  Errhandler errorsReturn;
  bool resolve(Find find, void *library) {
    world = find(library, "ompi_mpi_comm_world");
    byte = find(library, "ompi_mpi_byte");
    errorsReturn = find(library, "ompi_mpi_errors_return");
    return world != nullptr && byte != nullptr && errorsReturn != nullptr;
  }
};

/// MPICH 3.1 and later, and libraries that share its interface (Intel MPI, MVAPICH, Cray MPICH): handles are
/// numbers.
struct MpichAbi {
  using Comm = int;
  using Datatype = int;
  using Request = int;
  using Errhandler = int;
  struct Status {
    int countLow;
    int countHighAndCancelled;
    int source;
    int tag;
    int error;
  };
  static constexpr int anySource = -2;
  static constexpr int threadFunneled = 1;
  static constexpr int threadMultiple = 3;

  Comm world = 0x44000000;
  Datatype byte = 0x4c00010d;
  Errhandler errorsReturn = 0x54000001;
  bool resolve(Find, void *) { return true; }
};

/// The standard ABI of MPI 5 (libmpi_abi): handles are pointers with small fixed values.
struct StandardAbi {
  using Comm = void *;
  using Datatype = void *;
  using Request = void *;
  using Errhandler = void *;
  struct Status {
    int source;
    int tag;
    int error;
    int reserved[5];
  };
  static constexpr int anySource = -1;
  static constexpr int threadFunneled = 1024;
  static constexpr int threadMultiple = 4096;

  Comm world = reinterpret_cast<void *>(std::uintptr_t{0x101});
  Datatype byte = reinterpret_cast<void *>(std::uintptr_t{0x247});
  Errhandler errorsReturn = reinterpret_cast<void *>(std::uintptr_t{0x143});
  bool resolve(Find, void *) { return true; }
};

static_assert(sizeof(OpenMpiAbi::Status) == 24 && sizeof(MpichAbi::Status) == 20 && sizeof(StandardAbi::Status) == 32);

/// The functions of one library, with the types of its interface.
template <class Abi> struct Functions {
  using Comm = typename Abi::Comm;
  using Datatype = typename Abi::Datatype;
  using Request = typename Abi::Request;
  using Status = typename Abi::Status;

  int (*initThread)(int *, char ***, int, int *);
  int (*initialized)(int *);
  int (*queryThread)(int *);
  int (*isThreadMain)(int *);
  int (*finalize)();
  int (*abort)(Comm, int);
  int (*errorString)(int, char *, int *);
  int (*commRank)(Comm, int *);
  int (*commSize)(Comm, int *);
  int (*commDup)(Comm, Comm *);
  int (*commIdup)(Comm, Comm *, Request *);
  int (*commSetErrhandler)(Comm, typename Abi::Errhandler);
  int (*isend)(const void *, int, Datatype, int, int, Comm, Request *);
  int (*irecv)(void *, int, Datatype, int, int, Comm, Request *);
  int (*testsome)(int, Request *, int *, int *, Status *);
  int (*test)(Request *, int *, Status *);
  int (*iprobe)(int, int, Comm, int *, Status *);
  int (*getCount)(const Status *, Datatype, int *);

  /// Finds all functions; returns the name of the first one that the library lacks, or an empty string.
  std::string resolve(Find find, void *library) {
    std::string missing;
    const auto take = [&](auto &function, const char *name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(find(library, name));
      if (function == nullptr && missing.empty()) missing = name;
    };
    take(initThread, "MPI_Init_thread");
    take(initialized, "MPI_Initialized");
    take(queryThread, "MPI_Query_thread");
    take(isThreadMain, "MPI_Is_thread_main");
    take(finalize, "MPI_Finalize");
    take(abort, "MPI_Abort");
    take(errorString, "MPI_Error_string");
    take(commRank, "MPI_Comm_rank");
    take(commSize, "MPI_Comm_size");
    take(commDup, "MPI_Comm_dup");
    take(commIdup, "MPI_Comm_idup");
    take(commSetErrhandler, "MPI_Comm_set_errhandler");
    take(isend, "MPI_Isend");
    take(irecv, "MPI_Irecv");
    take(testsome, "MPI_Testsome");
    take(test, "MPI_Test");
    take(iprobe, "MPI_Iprobe");
    take(getCount, "MPI_Get_count");
    return missing;
  }
};

} // namespace tandem::mpi
