// Compares our declarations with NVIDIA's nccl.h: compiles or does not (c++ -fsyntax-only -I…/cuda/include
// -I…/nccl/include).
#include <nccl.h>

#include <type_traits>

#include "../src/nccl_api.h"

namespace ours = tandem::nccl;

static_assert(sizeof(ours::UniqueId) == sizeof(ncclUniqueId));
static_assert(offsetof(ours::Config, magic) == offsetof(ncclConfig_t, magic));
static_assert(offsetof(ours::Config, version) == offsetof(ncclConfig_t, version));
static_assert(offsetof(ours::Config, blocking) == offsetof(ncclConfig_t, blocking));
#if NCCL_VERSION_CODE >= 22900
static_assert(offsetof(ours::Config, graphUsageMode) == offsetof(ncclConfig_t, graphUsageMode));
static_assert(sizeof(ours::Config) == offsetof(ncclConfig_t, numRmaCtx) + sizeof(int));
#endif
constexpr ncclConfig_t initial = NCCL_CONFIG_INITIALIZER;
static_assert(ours::configMagic == initial.magic && ours::configVersion == NCCL_VERSION(2, 29, 0) &&
              ours::undefined == NCCL_CONFIG_UNDEF_INT);
static_assert(ours::oldestVersion == NCCL_VERSION(2, 18, 0) && NCCL_VERSION_CODE >= ours::oldestVersion);
static_assert(ours::success == ncclSuccess && ours::inProgress == ncclInProgress && ours::typeByte == ncclInt8);

// Every call takes as many arguments of the same sizes as NVIDIA's.
template <typename> struct Signature;
template <typename Result, typename... Arguments> struct Signature<Result(Arguments...)> {
  static constexpr std::size_t count = sizeof...(Arguments);
  static constexpr std::size_t bytes = (sizeof(Arguments) + ... + 0);
};
template <typename Result, typename... Arguments>
struct Signature<tandem::Import<Result(Arguments...)>> : Signature<Result(Arguments...)> {};
#define SAME_CALL(member, theirs)                                                                                      \
  static_assert(Signature<decltype(ours::Library::member)>::count == Signature<decltype(theirs)>::count &&             \
                    Signature<decltype(ours::Library::member)>::bytes == Signature<decltype(theirs)>::bytes,           \
                #theirs)
SAME_CALL(getVersion, ncclGetVersion);
SAME_CALL(getUniqueId, ncclGetUniqueId);
SAME_CALL(commInitRankConfig, ncclCommInitRankConfig);
SAME_CALL(commGetAsyncError, ncclCommGetAsyncError);
SAME_CALL(commAbort, ncclCommAbort);
SAME_CALL(groupStart, ncclGroupStart);
SAME_CALL(groupEnd, ncclGroupEnd);
SAME_CALL(send, ncclSend);
SAME_CALL(recv, ncclRecv);
SAME_CALL(getErrorString, ncclGetErrorString);
SAME_CALL(getLastError, ncclGetLastError);
