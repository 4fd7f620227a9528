/** What a user reads where a package is not there. */
export function notInstalled(packageName: string) {
  return {
    reason: `The package ${packageName} is not installed next to the tandem command.`,
    remedy: `Run npm install ${packageName}, with --global if @tandem-gpu/cli is installed globally.`,
  }
}

/**
 * Node's loaders and Yarn's Plug'n'Play name the package that they do not find in the message, under one of
 * two codes.
 */
export function isNotInstalled(error: unknown, packageName: string): boolean {
  const { code, message } = error as NodeJS.ErrnoException
  return (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') && message.includes(packageName)
}
