// What the parts of the fake library share. Environment: FAKE_CUDA_DEVICES (2), FAKE_CUDA_MEMORY bytes a
// device (2^30), FAKE_CUDA_PEERS (all | none), FAKE_CUDA_IPC (all | none | own), FAKE_CUDA_IPC_MARKS whether
// handles of one block differ (0), FAKE_CUDA_VERSION (13000), FAKE_CUDA_SEED (1), FAKE_CUDA_ONE_QUEUE whether
// a GPU's graphs run one after another, and a launch takes 50 µs (0), FAKE_CUDA_BUSY_MS a graph launch (0),
// FAKE_CUDA_COPY_MS a dense copy between host and device (0), FAKE_CUDA_GRAPHS and FAKE_CUDA_MODULES how many
// may live (10^6), FAKE_CUDA_PING_PONG_SECONDS after which the calibration of clocks gives up a round (600),
// FAKE_CUDA_FAIL_DEVICE the device that refuses graph launches for want of memory (-1), FAKE_CUDA_LOCAL_BYTES
// of each kernel (0), FAKE_NVML_ERROR (fail init), FAKE_NCCL_VERSION (22803), FAKE_NCCL_STATE of
// communicators once all ranks are there (0), FAKE_NVRTC_MS a compilation (0).
#pragma once
#include <cstdlib>

#define EXPORT extern "C" __attribute__((visibility("default")))

inline long setting(const char *name, long fallback) {
  const char *text = getenv(name);
  return text != nullptr && *text != '\0' ? std::strtol(text, nullptr, 10) : fallback;
}
inline int deviceCount() { return static_cast<int>(setting("FAKE_CUDA_DEVICES", 2)); }
