/**
 * The well-known symbols of `using` declarations. If a JavaScript engine lacks them, registered symbols
 * replace them, so that classes can always define the methods.
 */
export const disposeSymbol: typeof Symbol.dispose =
  Symbol.dispose ?? (Symbol.for('Symbol.dispose') as typeof Symbol.dispose)
export const asyncDisposeSymbol: typeof Symbol.asyncDispose =
  Symbol.asyncDispose ?? (Symbol.for('Symbol.asyncDispose') as typeof Symbol.asyncDispose)
