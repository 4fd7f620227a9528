/*
 * The limits on the size of a source. WGSL lets an implementation choose most of them (section "Limits").
 * These are the limits of Dawn's compiler, so that both compilers accept the same sources.
 */

/** The maximum nesting of brackets and unary operators. */
export const maximumNesting = 127

/** The maximum nesting of statements; blocks, clauses of a switch and each `else if` count too. */
export const maximumStatementNesting = 127

/** The maximum depth of an expression tree. */
export const maximumExpressionDepth = 512

/** The maximum nesting of arrays and structures; a vector counts as 1, a matrix as 2. */
export const maximumTypeNesting = 255

export const maximumParameters = 255
export const maximumMembers = 16383
export const maximumSwitchClauses = 16383

/** The maximum length of an array value, or of an array outside of storage buffers. */
export const maximumArrayLength = 65535

/** The maximum size of a type in bytes. */
export const maximumByteLength = 2 ** 32 - 1

/** The maximum size in bytes of a value that is computed at runtime. Only reachable code is checked. */
export const maximumValueByteLength = 65536

/** The maximum size in bytes of all private variables that an entry point uses. */
export const maximumPrivateByteLength = 2 ** 23

export const maximumOverrides = 65536

/** The maximum number of characters of function specializations for different pointers into module memory. */
export const maximumSpecialisedLength = 2 ** 24

/** What each specialization adds to the characters of its function, because a short one takes time and memory too. */
export const specialisationLength = 512

/** The maximum number of literals of constants, each of which is written out where a source names it anew. */
export const maximumLiterals = 2 ** 22
