// What an addon is built with. Plain Node 20 and its builtins only: start.mjs asks before node_modules
// exists.
import { spawnSync } from 'node:child_process'

/**
 * What this machine lacks for building an addon, by name; none where everything is there. `env` has the PATH
 * to look in.
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
