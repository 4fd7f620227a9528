// The tools that build an addon. Uses only plain Node 20 and its builtins: start.mjs imports this before
// node_modules exists.
import { spawnSync } from 'node:child_process'

/**
 * The names of the tools for building an addon that are missing on this machine; empty if there are none.
 * `env` has the PATH to search.
 */
export function missingBuildTools(env = process.env) {
  const starts = (name) => spawnSync(name, ['--version'], { stdio: 'ignore', env }).status === 0
  const compilers = [env.CXX, 'c++', 'g++', 'clang++'].filter(Boolean)
  return [
    ...(compilers.some(starts) ? [] : ['a C++ compiler']),
    ...(starts('cmake') ? [] : ['CMake']),
    ...(['make', 'ninja'].some(starts) ? [] : ['make or ninja']),
  ]
}

/** "a C++ compiler, CMake, and make or ninja" */
export function namesOf(tools) {
  return new Intl.ListFormat('en').format(tools)
}
