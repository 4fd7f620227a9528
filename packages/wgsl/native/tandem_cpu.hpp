// Runs generated CUDA C++ on the CPU: the CUDA words and functions that generated kernels use, and a scheduler that runs a
// block's threads as fibers on one operating system thread, so that barriers and warp operations work and every run is the
// same. Buffers end at a guard page: an access past the end stops the job, not the program. For tests; x86-64 or ucontext.
#pragma once

#include "tandem_cpu/jobs.hpp"
