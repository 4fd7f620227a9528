/** The message for a package that is not installed. */
export function notInstalled(packageName: string) {
  return {
    reason: `The package ${packageName} is not installed next to the tandem command.`,
    remedy: `Run npm install ${packageName}, with --global if @tandem-gpu/cli is installed globally.`,
  }
}

/**
 * Node's loaders and Yarn's Plug'n'Play name the missing package in the message of an error with one of two
 * codes.
 */
export function isNotInstalled(error: unknown, packageName: string): boolean {
  const { code, message } = error as NodeJS.ErrnoException
  return (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') && message.includes(packageName)
}
