import { spawnSync } from 'node:child_process'

/** The paths in an npm tarball, all below `package/`. */
export function tarList(tarball: string): string[] {
  return spawnSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).stdout.trim().split('\n')
}

/** The bytes of one file of a tarball. */
export function tarEntry(tarball: string, path: string): Buffer {
  return spawnSync('tar', ['-xzOf', tarball, path], { maxBuffer: 2 ** 30 }).stdout
}
