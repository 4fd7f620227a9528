/**
 * Command buffers that take longer are halved, so that an abort takes effect soon and no driver watchdog
 * kills them.
 */
const longSeconds = 0.05
/**
 * Command buffers that take less time may double in size, because each submission costs the host about 50 µs.
 */
const shortSeconds = 0.01
const maxCommands = 1024

/** Chooses the number of commands per command buffer from the durations of earlier ones of the same plan. */
export class Pacing {
  #commands = 64

  get commandsPerSubmission(): number {
    return this.#commands
  }

  /** Records that a full command buffer of `commands` commands took `seconds`. */
  learn(commands: number, seconds: number): void {
    if (commands < this.#commands) return
    if (seconds > longSeconds) this.#commands = Math.max(1, this.#commands >> 1)
    else if (seconds < shortSeconds) this.#commands = Math.min(maxCommands, this.#commands * 2)
  }
}
