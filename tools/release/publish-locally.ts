import { runAsync } from './run-async.ts'

/** Publishes tarballs as they are, in order, for tests that need no release: to a registry on this machine and to no other. */
export async function publishLocally(
  tarballs: Iterable<string>,
  registry: { readonly url: string; readonly authLine: string },
  npm: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<void> {
  if (new URL(registry.url).hostname !== '127.0.0.1')
    throw new Error(`${registry.url} is not on this machine.`)
  const [key, value] = registry.authLine.split('=') as [string, string]
  for (const tarball of tarballs) {
    const target = [
      `--registry=${registry.url}`,
      `--@tandem-gpu:registry=${registry.url}`,
      `--${key}=${value}`,
    ]
    const { status, output } = await runAsync('npm', ['publish', tarball, '--ignore-scripts', ...target], npm)
    if (status !== 0) throw new Error(`npm publish ${tarball} fails.\n${output}`)
  }
}
