/**
 * Stands for the error in its `cause`, which other values of overrides would not have: one that has no value, or an index
 * too large. Code that an entry point does not reach may have it.
 */
export class OverrideError extends Error {}
