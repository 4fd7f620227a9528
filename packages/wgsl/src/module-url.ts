/**
 * The URL of this module, one folder below package.json. A cache of this package's results takes the code
 * in that folder as their version. Undefined in code that is bundled into CommonJS.
 */
export const moduleUrl: string | undefined = import.meta.url
