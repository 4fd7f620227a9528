/*
 * The limits on the size of a source. WGSL lets an implementation choose most of them (section "Limits");
 * these are those of Dawn's compiler, so that a source is accepted here exactly when it is accepted there.
 */

/** How deep brackets and unary operators may nest. */
export const maximumNesting = 127

/** How deep statements may nest; blocks, clauses of a switch and each `else if` count too. */
export const maximumStatementNesting = 127

/** How deep the tree of an expression may be. */
export const maximumExpressionDepth = 512

/** How deep arrays and structures may nest; a vector counts as 1, a matrix as 2. */
export const maximumTypeNesting = 255

export const maximumParameters = 255
export const maximumMembers = 16383
export const maximumSwitchClauses = 16383

/** The length of an array of which values exist, or which lies elsewhere than in a storage buffer. */
export const maximumArrayLength = 65535

/** The size of a type in bytes. */
export const maximumByteLength = 2 ** 32 - 1

/**
 * The size in bytes of a value that is computed when the shader runs. Only code that the entry point reaches
 * is held to it.
 */
export const maximumValueByteLength = 65536

/**
 * How many copies of functions there may be, each for other pointers into module memory that its callers
 * pass.
 */
export const maximumSpecialisations = 10_000
