#include "queue_object.h"

#include <cstring>
#include <utility>

#include "js_work.h"

namespace tandem {

namespace {

/// Below this a mapped range is a copy: an ArrayBuffer of an addon's own memory costs more than copying so
/// much.
constexpr std::size_t leastExternalByteLength = 16 * 1024;

constexpr std::size_t mostDeferred = 256;

NativeError queueClosed() { return {"group-lost", "The queue has been closed."}; }

} // namespace

/// What jobs on the group's thread hold of a queue.
struct QueueObject::Link : std::enable_shared_from_this<QueueObject::Link> {
  std::function<bool(std::function<void()>)> post;
  std::function<bool()> stopping;
  std::weak_ptr<Group> group;
  std::uint32_t id = 0;

  /// Polls as a job that queues itself again, so that what others queue has its turn. One does for all queues
  /// of the group.
  void beginPolling(Group &held) {
    if (held.beginPollingQueues()) pollNext();
  }
  void pollNext() {
    post([link = shared_from_this()] {
      const auto group = link->group.lock();
      if (!group) return;
      while (!link->stopping()) {
        try {
          if (!group->pollQueues()) break;
          link->pollNext();
          return;
        } catch (const std::bad_alloc &) {
          // Each queue reports its own errors, so this is the job: memory may be available later.
        }
      }
      group->endPollingQueues();
    });
  }
};

Napi::Object QueueObject::open(const Napi::CallbackInfo &info, const std::shared_ptr<Worker> &worker,
                               const std::shared_ptr<Group> &group) {
  const auto env = info.Env();
  auto parts = Parts{std::make_shared<Link>(), worker};
  auto &link = *parts.link;
  link.post = worker->poster();
  link.stopping = worker->stopping();
  link.group = group;
  link.id = fromJs<std::uint32_t>(info[0]);
  auto constructor = DefineClass(env, "NativeQueue",
                                 {
                                     InstanceMethod("loadKernel", &QueueObject::loadKernel),
                                     InstanceMethod("createBuffer", &QueueObject::createBuffer),
                                     InstanceMethod("adoptBuffer", &QueueObject::adoptBuffer),
                                     InstanceMethod("shareBuffer", &QueueObject::shareBuffer),
                                     InstanceMethod("releaseShared", &QueueObject::releaseShared),
                                     InstanceMethod("destroyBuffer", &QueueObject::destroyBuffer),
                                     InstanceMethod("submit", &QueueObject::submit),
                                     InstanceMethod("flush", &QueueObject::flush),
                                     InstanceMethod("mappedRange", &QueueObject::mappedRange),
                                     InstanceMethod("unmap", &QueueObject::unmap),
                                     InstanceMethod("fence", &QueueObject::fence),
                                     InstanceMethod("settled", &QueueObject::settled),
                                     InstanceMethod("left", &QueueObject::left),
                                     InstanceMethod("close", &QueueObject::close),
                                 });
  auto object = constructor.New({Napi::External<Parts>::New(env, &parts)});
  auto &queue = *Unwrap(object);
  queue.onMessage_ = Napi::Persistent(info[4].As<Napi::Function>());
  queue.listener_ = std::make_shared<Listener>(Listener{&queue.onMessage_});
  /// Arguments of onMessage: the kind, then two numbers and a text.
  const auto tell = [tell = worker->teller(), listener = queue.listener_](const char *kind, double first, double second, std::string text,
                                                                         std::string code, int result) {
    tell([=](Napi::Env env) {
      if (listener->callback == nullptr) return;
      listener->callback->Call({Napi::String::New(env, kind), Napi::Number::New(env, first), Napi::Number::New(env, second),
                                Napi::String::New(env, text), Napi::String::New(env, code), Napi::Number::New(env, result)});
    });
  };
  QueueMessages messages;
  messages.outOfMemory = [tell](std::uint64_t buffer, const std::string &text) {
    tell("out-of-memory", static_cast<double>(buffer), 0, text, "", 0);
  };
  messages.skipped = [tell](std::uint64_t serial, std::uint64_t buffer) {
    tell("skipped", static_cast<double>(serial), static_cast<double>(buffer), "", "", 0);
  };
  messages.lost = [tell](const NativeError &error) { tell("lost", 0, 0, error.what(), error.code, error.result); };
  worker->post([group = std::weak_ptr(group), id = link.id, gpu = fromJs<std::size_t>(info[1]), timeoutSeconds = fromJs<double>(info[2]),
                kernels = fromJs<std::vector<std::uint32_t>>(info[3]), messages] {
    const auto held = group.lock();
    if (!held) return;
    try {
      held->openQueue(id, gpu, timeoutSeconds, kernels, messages);
    } catch (const NativeError &error) {
      messages.lost(error);
    }
  });
  return object;
}

QueueObject::QueueObject(const Napi::CallbackInfo &info) : Napi::ObjectWrap<QueueObject>(info) {
  if (info.Length() != 1 || !info[0].IsExternal()) throw Napi::TypeError::New(info.Env(), "Queues come from openQueue.");
  parts_ = *info[0].As<Napi::External<Parts>>().Data();
}

QueueObject::~QueueObject() {
  if (listener_) listener_->callback = nullptr;
}

void QueueObject::defer(Call call) {
  deferred_.push_back(std::move(call));
  if (deferred_.size() == mostDeferred) postDeferred();
}

void QueueObject::post(Call call) {
  deferred_.push_back(std::move(call));
  postDeferred();
}

void QueueObject::postDeferred() {
  const auto calls = std::make_shared<std::vector<Call>>(std::exchange(deferred_, {}));
  const auto worker = parts_.worker.lock();
  if (!worker || calls->empty()) return;
  worker->post([link = parts_.link, calls] {
    const auto group = link->group.lock();
    if (!group) return;
    auto &queue = group->queueOf(link->id);
    link->beginPolling(*group);
    for (const auto &call : *calls) {
      try {
        call(queue);
      } catch (...) {
        queue.lose(currentError());
      }
    }
  });
}

Napi::Promise QueueObject::later(const Napi::CallbackInfo &info, std::function<void(CommandQueue &, Settled)> call) {
  postDeferred();
  const auto worker = parts_.worker.lock();
  if (!worker) return rejected(info.Env(), queueClosed());
  return worker->submitLater(info, [link = parts_.link, call = std::move(call)](const Worker::Finish &finish) {
    const auto group = link->group.lock();
    try {
      if (!group) throw queueClosed();
      link->beginPolling(*group);
      call(group->queueOf(link->id), finish);
    } catch (...) {
      const auto error = currentError();
      finish(&error);
    }
  });
}

Napi::Value QueueObject::resultOf(const Napi::CallbackInfo &info, std::function<Settle(CommandQueue &)> call) {
  const auto worker = parts_.worker.lock();
  if (!worker) return rejected(info.Env(), queueClosed());
  return worker->submit(info, [link = parts_.link, call = std::move(call)]() -> Settle {
    const auto group = link->group.lock();
    if (!group) throw queueClosed();
    return call(group->queueOf(link->id));
  });
}

void QueueObject::adjustMemory(Napi::Env env, double byteLength) {
  told_ += byteLength;
  Napi::MemoryManagement::AdjustExternalMemory(env, static_cast<std::int64_t>(byteLength));
}

/// kernel, description → Promise
Napi::Value QueueObject::loadKernel(const Napi::CallbackInfo &info) {
  return resultOf(info, [number = fromJs<std::uint64_t>(info[0]), kernel = fromJs<QueueKernel>(info[1])](CommandQueue &queue) -> Settle {
    queue.loadKernel(number, kernel);
    return nullptr;
  });
}

/// buffer, byteLength, whether it is in page-locked memory
Napi::Value QueueObject::createBuffer(const Napi::CallbackInfo &info) {
  const auto number = fromJs<std::uint64_t>(info[0]);
  const auto byteLength = fromJs<std::size_t>(info[1]);
  auto &buffer = buffers_[number];
  buffer.byteLength = byteLength;
  adjustMemory(info.Env(), static_cast<double>(byteLength));
  if (!fromJs<bool>(info[2])) {
    defer([number, byteLength](CommandQueue &queue) { queue.createBuffer(number, byteLength); });
  } else {
    buffer.host = std::make_shared<HostBuffer>();
    defer([number, byteLength, host = buffer.host](CommandQueue &queue) { queue.createHostBuffer(number, byteLength, host); });
  }
  return info.Env().Undefined();
}

/// buffer, address, byteLength
Napi::Value QueueObject::adoptBuffer(const Napi::CallbackInfo &info) {
  defer([number = fromJs<std::uint64_t>(info[0]), address = fromJs<cuda::DevicePtr>(info[1]),
        byteLength = fromJs<std::size_t>(info[2])](CommandQueue &queue) { queue.adoptBuffer(number, address, byteLength); });
  return info.Env().Undefined();
}

/// buffer → Promise<address>
Napi::Value QueueObject::shareBuffer(const Napi::CallbackInfo &info) {
  postDeferred();
  return resultOf(info, [number = fromJs<std::uint64_t>(info[0])](CommandQueue &queue) -> Settle {
    const auto address = queue.shareBuffer(number);
    return [address](Napi::Env env) { return toJs(env, address); };
  });
}

/// buffer: no program uses its memory any more
Napi::Value QueueObject::releaseShared(const Napi::CallbackInfo &info) {
  postDeferred();
  const auto worker = parts_.worker.lock();
  if (!worker) return info.Env().Undefined();
  worker->post([link = parts_.link, number = fromJs<std::uint64_t>(info[0])] {
    if (const auto group = link->group.lock()) group->releaseShared(link->id, number);
  });
  return info.Env().Undefined();
}

Napi::Value QueueObject::destroyBuffer(const Napi::CallbackInfo &info) {
  const auto number = fromJs<std::uint64_t>(info[0]);
  if (const auto found = buffers_.find(number); found != buffers_.end()) {
    detachRanges(found->second, false);
    adjustMemory(info.Env(), -static_cast<double>(found->second.byteLength));
    buffers_.erase(found);
  }
  defer([number](CommandQueue &queue) { queue.destroyBuffer(number); });
  return info.Env().Undefined();
}

/// serial, words, data
Napi::Value QueueObject::submit(const Napi::CallbackInfo &info) {
  struct Call {
    std::uint64_t serial;
    std::vector<double> words;
    std::vector<std::uint8_t> data;
  };
  auto given = std::make_shared<Call>(
      Call{fromJs<std::uint64_t>(info[0]), fromJs<std::vector<double>>(info[1]), fromJs<std::vector<std::uint8_t>>(info[2])});
  post([given = std::move(given)](CommandQueue &queue) {
    queue.submit(given->serial, std::move(given->words), std::move(given->data));
  });
  return info.Env().Undefined();
}

/// Makes the calls that have been put off.
Napi::Value QueueObject::flush(const Napi::CallbackInfo &info) {
  postDeferred();
  return info.Env().Undefined();
}

/// buffer, byteOffset, byteLength → ArrayBuffer. The commands before are complete. Throws for a buffer without
/// memory.
Napi::Value QueueObject::mappedRange(const Napi::CallbackInfo &info) {
  const auto env = info.Env();
  const auto found = buffers_.find(fromJs<std::uint64_t>(info[0]));
  if (found == buffers_.end() || !found->second.host || !found->second.host->block)
    throw errorOf(env, {"driver", "A buffer is mapped that has no memory."});
  auto &buffer = found->second;
  const auto byteOffset = fromJs<std::size_t>(info[1]);
  const auto byteLength = fromJs<std::size_t>(info[2]);
  auto *bytes = static_cast<std::uint8_t *>(buffer.host->block.get()) + byteOffset;
  Napi::ArrayBuffer arrayBuffer;
  bool copied = true;
  if (byteLength >= leastExternalByteLength) {
    auto held = std::make_unique<std::shared_ptr<void>>(buffer.host->block);
    napi_value value;
    const auto status = napi_create_external_arraybuffer(
        env, bytes, byteLength, [](napi_env, void *, void *block) { delete static_cast<std::shared_ptr<void> *>(block); }, held.get(), &value);
    if (status == napi_ok) {
      static_cast<void>(held.release());
      arrayBuffer = Napi::ArrayBuffer(env, value);
      copied = false;
    } else if (status != napi_no_external_buffers_allowed) {
      throw Napi::Error::New(env);
    }
  }
  if (copied) {
    arrayBuffer = Napi::ArrayBuffer::New(env, byteLength);
    std::memcpy(arrayBuffer.Data(), bytes, byteLength);
  }
  // Weak: nothing has to be detached once JavaScript has dropped it.
  buffer.ranges.push_back({Napi::Reference<Napi::ArrayBuffer>::New(arrayBuffer, 0), byteOffset, copied});
  return arrayBuffer;
}

void QueueObject::detachRanges(Buffer &buffer, bool write) {
  for (auto &range : std::exchange(buffer.ranges, {})) {
    auto arrayBuffer = range.arrayBuffer.Value();
    // It may have been garbage-collected, or the caller may have transferred it to another thread.
    if (arrayBuffer.IsEmpty() || arrayBuffer.IsDetached()) continue;
    if (write && range.copied) {
      auto *bytes = static_cast<std::uint8_t *>(buffer.host->block.get()) + range.byteOffset;
      std::memcpy(bytes, arrayBuffer.Data(), arrayBuffer.ByteLength());
    }
    arrayBuffer.Detach();
  }
}

/// buffer, whether what the ranges hold is to be in the buffer
Napi::Value QueueObject::unmap(const Napi::CallbackInfo &info) {
  const auto found = buffers_.find(fromJs<std::uint64_t>(info[0]));
  if (found != buffers_.end()) detachRanges(found->second, fromJs<bool>(info[1]));
  return info.Env().Undefined();
}

Napi::Value QueueObject::fence(const Napi::CallbackInfo &info) {
  return later(info, [](CommandQueue &queue, Settled settled) { queue.fence(std::move(settled)); });
}

Napi::Value QueueObject::settled(const Napi::CallbackInfo &info) {
  return later(info, [](CommandQueue &queue, Settled settled) { queue.settle(std::move(settled)); });
}

/// Resolves when the GPU has completed the commands before, even if the queue is lost.
Napi::Value QueueObject::left(const Napi::CallbackInfo &info) {
  return later(info, [](CommandQueue &queue, Settled settled) {
    queue.drain([settled = std::move(settled)] { settled(nullptr); });
  });
}

/// Resolves when the commands before are complete and everything is given back.
Napi::Value QueueObject::close(const Napi::CallbackInfo &info) {
  for (auto &[number, buffer] : buffers_) detachRanges(buffer, false);
  buffers_.clear();
  adjustMemory(info.Env(), -told_);
  return later(info, [link = parts_.link](CommandQueue &queue, Settled settled) {
    queue.drain([link, settled = std::move(settled)] {
      // In a separate job, because the queue that calls this must not be destroyed during the call.
      const auto queued = link->post([link, settled] {
        if (const auto group = link->group.lock()) group->closeQueue(link->id);
        settled(nullptr);
      });
      if (!queued) settled(nullptr);
    });
  });
}

} // namespace tandem
