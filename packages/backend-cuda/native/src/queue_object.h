#pragma once
#include <napi.h>

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "group.h"
#include "worker.h"

namespace tandem {

/// The JavaScript interface of a group's command queue; src/native-addon.ts declares it. It keeps neither the
/// group nor its thread alive.
class QueueObject : public Napi::ObjectWrap<QueueObject> {
public:
  /// Opens queue `id` on the group's thread. `arguments`: gpu, timeoutSeconds, IDs of the internal kernels,
  /// onMessage.
  static Napi::Object open(const Napi::CallbackInfo &info, const std::shared_ptr<Worker> &worker, const std::shared_ptr<Group> &group);
  explicit QueueObject(const Napi::CallbackInfo &info);
  ~QueueObject() override;

private:
  struct Link;
  struct Parts {
    std::shared_ptr<Link> link;
    std::weak_ptr<Worker> worker;
  };
  /// The receiver of messages; used only on JavaScript's thread.
  struct Listener {
    Napi::FunctionReference *callback;
  };
  /// A range that `mappedRange` returned.
  struct MappedRange {
    Napi::Reference<Napi::ArrayBuffer> arrayBuffer;
    std::size_t byteOffset;
    bool copied;
  };
  struct Buffer {
    std::size_t byteLength;
    std::shared_ptr<HostBuffer> host;
    std::vector<MappedRange> ranges;
  };

  using Call = std::function<void(CommandQueue &)>;
  /// Makes the call together with the next one that is posted: waking the group's thread costs more than most
  /// calls that nobody waits for.
  void defer(Call call);
  void post(Call call);
  void postDeferred();
  /// A promise of what the call returns, or of the error that it throws.
  Napi::Value resultOf(const Napi::CallbackInfo &info, std::function<Settle(CommandQueue &)> call);
  Napi::Promise later(const Napi::CallbackInfo &info, std::function<void(CommandQueue &, Settled)> call);
  void adjustMemory(Napi::Env env, double byteLength);
  void detachRanges(Buffer &buffer, bool write);

  Napi::Value loadKernel(const Napi::CallbackInfo &info);
  Napi::Value createBuffer(const Napi::CallbackInfo &info);
  Napi::Value adoptBuffer(const Napi::CallbackInfo &info);
  Napi::Value shareBuffer(const Napi::CallbackInfo &info);
  Napi::Value releaseShared(const Napi::CallbackInfo &info);
  Napi::Value destroyBuffer(const Napi::CallbackInfo &info);
  Napi::Value submit(const Napi::CallbackInfo &info);
  Napi::Value flush(const Napi::CallbackInfo &info);
  Napi::Value mappedRange(const Napi::CallbackInfo &info);
  Napi::Value unmap(const Napi::CallbackInfo &info);
  Napi::Value fence(const Napi::CallbackInfo &info);
  Napi::Value settled(const Napi::CallbackInfo &info);
  Napi::Value left(const Napi::CallbackInfo &info);
  Napi::Value close(const Napi::CallbackInfo &info);

  Parts parts_;
  Napi::FunctionReference onMessage_;
  std::shared_ptr<Listener> listener_;
  std::unordered_map<std::uint64_t, Buffer> buffers_;
  std::vector<Call> deferred_;
  /// The number of bytes that has been reported to the garbage collector.
  double told_ = 0;
};

} // namespace tandem
