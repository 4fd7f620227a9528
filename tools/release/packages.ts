import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  /** Set in tarballs that `npm run pack -- --without-kernels` creates; such a tarball is never published. */
  readonly tandem?: { readonly withoutKernels?: boolean }
}

export interface Package {
  /** `backend-cuda` of `packages/backend-cuda`. */
  readonly shortName: string
  readonly folder: string
  readonly manifest: Manifest
}

/** The packages of a release, each after those on which it depends. */
export function publishedPackages(root: string): Package[] {
  const packages = readdirSync(join(root, 'packages')).flatMap((shortName) => {
    const folder = join(root, 'packages', shortName)
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
    return manifest.private === true ? [] : [{ shortName, folder, manifest }]
  })
  const ordered = new Set<Package>()
  const add = (one: Package) => {
    const needed = { ...one.manifest.dependencies, ...one.manifest.peerDependencies }
    for (const other of packages) if (other.manifest.name in needed) add(other)
    ordered.add(one)
  }
  for (const one of packages) add(one)
  return [...ordered]
}
