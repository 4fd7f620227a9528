/**
 * Command buffers that take longer than this are halved, so that an abort acts soon and no watchdog of a
 * driver ends them.
 */
const longSeconds = 0.05
/** Command buffers that take less may double: each submission costs the host about 50 µs. */
const shortSeconds = 0.01
const maxCommands = 1024

/** How many commands go into one command buffer: learned from how long earlier ones of the same plan took. */
export class Pacing {
  #commands = 64

  get commandsPerSubmission(): number {
    return this.#commands
  }

  /** A full command buffer of `commands` commands took `seconds`. */
  learn(commands: number, seconds: number): void {
    if (commands < this.#commands) return
    if (seconds > longSeconds) this.#commands = Math.max(1, this.#commands >> 1)
    else if (seconds < shortSeconds) this.#commands = Math.min(maxCommands, this.#commands * 2)
  }
}
