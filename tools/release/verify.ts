import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { shippedSources } from '../ship-kernels/shipped-sources.ts'
import type { Manifest } from './packages.ts'
import { tarEntry, tarList } from './tarball.ts'

const platforms = ['linux-x64', 'linux-arm64']

/**
 * The reasons why a tarball must not be published; empty if there are none. `folder` is the package from
 * which it was created.
 */
export function problemsOf(tarball: string, folder: string): string[] {
  const files = tarList(tarball)
  const manifest = JSON.parse(tarEntry(tarball, 'package/package.json').toString()) as Manifest
  const problems: string[] = []
  const requireFile = (path: string, why: string) => {
    if (!files.includes(`package/${path}`)) problems.push(`${path} is missing: ${why}.`)
  }
  if (manifest.version === '0.0.0') problems.push('its version is 0.0.0: run npm run release:version first.')
  requireFile('LICENSE', 'every package carries its licence')
  requireFile('README.md', 'npm shows it')
  requireFile('CHANGELOG.md', 'npm run release:version writes it')
  if (existsSync(join(folder, 'native/build.mjs'))) {
    for (const platform of platforms) {
      const path = `prebuilds/${platform}/@tandem-gpu+${basename(folder)}.node`
      requireFile(path, `build it with npm run build${platform === 'linux-x64' ? '' : ':arm64'}`)
      if (files.includes(`package/${path}`))
        problems.push(...addonProblems(path, tarEntry(tarball, `package/${path}`)))
      if (files.includes(`package/prebuilds/${platform}/not-built.txt`))
        problems.push(`it was built without its addon for ${platform}.`)
    }
    requireFile('THIRD-PARTY.md', 'the addons contain other projects’ code')
  }
  if (manifest.name === '@tandem-gpu/backend-cuda') problems.push(...kernelProblems(tarball, files, manifest))
  return problems
}

/** The requirements that an addon must not have: a glibc above 2.34, or its libstdc++. */
export function addonProblems(path: string, addon: Buffer): string[] {
  const text = addon.toString('latin1')
  const newest = Math.max(...[...text.matchAll(/\bGLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor)))
  return [
    ...(newest > 34 ? [`${path} needs glibc 2.${newest}, and 2.34 is what docs/support.md promises.`] : []),
    ...(/libstdc\+\+\.so|\bGLIBCXX_/.test(text) ? [`${path} needs the libstdc++ of the machine.`] : []),
  ]
}

/** The kernels must be exactly those that the algorithms currently use. */
function kernelProblems(tarball: string, files: readonly string[], manifest: Manifest): string[] {
  if (manifest.tandem?.withoutKernels === true) return ['it is packed with --without-kernels.']
  const path = 'package/prebuilds/kernels.json.gz'
  if (!files.includes(path))
    return ['prebuilds/kernels.json.gz is missing: npm run pack compiles it with nvcc.']
  const packed = new Set(Object.keys(JSON.parse(gunzipSync(tarEntry(tarball, path)).toString())))
  const sources = shippedSources()
  const missing = sources.filter(({ key }) => !packed.has(key))
  if (missing.length === 0 && packed.size === sources.length) return []
  const example = missing[0] === undefined ? '' : `, '${missing[0].label}' for instance`
  return [
    `its kernels are stale: ${missing.length} of ${sources.length} are missing${example}, and ${packed.size - sources.length + missing.length} are not asked for.`,
  ]
}

/**
 * Combines `problemsOf` for every tarball of npm run pack into one text; undefined if all may be published.
 */
export function refusal(tarballs: ReadonlyMap<string, string>, root: string): string | undefined {
  const lines = [...tarballs].flatMap(([shortName, tarball]) =>
    problemsOf(tarball, join(root, 'packages', shortName)).map(
      (problem) => `  @tandem-gpu/${shortName}: ${problem}`,
    ),
  )
  return lines.length === 0 ? undefined : `These tarballs must not be published:\n${lines.join('\n')}`
}
