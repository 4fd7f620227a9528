import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, inject, it } from 'vitest'
import { shippedSources } from '../ship-kernels/shipped-sources.ts'
import { publishedPackages } from './packages.ts'
import { tarEntry, tarList } from './tarball.ts'
import { refusal } from './verify.ts'

const release = inject('release')
const packages = publishedPackages(release.clone)
const tarball = (shortName: string) =>
  join(release.tarballs, `tandem-gpu-${shortName}-${release.version}.tgz`)

describe('a release from a clean clone', () => {
  it('goes through every step of a release, and prints how long each takes', () => {
    expect(release.steps.map(({ name }) => name)).toEqual([
      'git clone',
      'npm ci',
      'npm run release:version',
      'npm run build',
      'npm run build:arm64',
      'npm run pack',
      'read the version',
      'publish',
    ])
    const seconds = release.steps.reduce((sum, step) => sum + step.seconds, 0)
    console.log(
      `The release takes ${(seconds / 60).toFixed(1)} minutes: fifteen are the aim on two idle cores.`,
    )
  })

  it('publishes every package to the registry that it names, and asks no other for anything', async () => {
    expect(release.strayRequests).toEqual([])
    expect(new URL(release.registry).hostname).toBe('127.0.0.1')
    for (const { manifest } of packages) {
      const response = await fetch(new URL(manifest.name.replace('/', '%2f'), release.registry))
      const { versions, 'dist-tags': tags } = (await response.json()) as {
        versions: object
        'dist-tags': { latest: string }
      }
      expect(Object.keys(versions)).toEqual([release.version])
      expect(tags.latest).toBe(release.version)
    }
  })

  it('makes tarballs that may be published, each with its changelog', () => {
    expect(readdirSync(release.tarballs)).toHaveLength(packages.length)
    const tarballs = new Map(packages.map(({ shortName }) => [shortName, tarball(shortName)]))
    expect(refusal(tarballs, release.clone)).toBeUndefined()
    for (const { shortName } of packages)
      expect(tarEntry(tarball(shortName), 'package/CHANGELOG.md').toString()).toContain(
        `## ${release.version}`,
      )
  })

  it('ships every kernel of the algorithms compiled, and the addons for two platforms', () => {
    const kernels = JSON.parse(
      gunzipSync(tarEntry(tarball('backend-cuda'), 'package/prebuilds/kernels.json.gz')).toString(),
    ) as Record<string, string>
    expect(Object.keys(kernels)).toHaveLength(shippedSources().length)
    for (const ptx of Object.values(kernels))
      expect(ptx).toMatch(/^\.version [678]\.\d\n\.target sm_(75|80)$/m)
    const addons = tarList(tarball('backend-cuda')).filter((path) => path.endsWith('.node'))
    expect(addons.sort()).toEqual(
      ['linux-arm64', 'linux-x64'].map(
        (platform) => `package/prebuilds/${platform}/@tandem-gpu+backend-cuda.node`,
      ),
    )
  })
})
