// Dawn in Node asks in every turn of the event loop whether the GPU is done, and keeps a core busy with that.
// On a CPU adapter the GPU is that core: after some turns of one wait, tests let Dawn ask once a millisecond.

const immediately = globalThis.setImmediate
const later = globalThis.setTimeout
const turnsAtOnce = 20
const installed = Symbol.for('tandem.dawn-polling')

/** Dawn's functions are native and nameless; nobody else hands such a one to `setImmediate`. */
function isOfDawn(callback: (...values: never[]) => void): boolean {
  return (
    callback.name === '' && Function.prototype.toString.call(callback) === 'function () { [native code] }'
  )
}

if (!(installed in immediately)) {
  let polling = false
  let turns = 0
  const patient = (callback: (...values: unknown[]) => void, ...values: unknown[]) => {
    if (!isOfDawn(callback)) return immediately(callback, ...values)
    // A call from within Dawn's own function goes on with a wait; any other begins one.
    turns = polling ? turns + 1 : 0
    const poll = () => {
      polling = true
      try {
        callback()
      } finally {
        polling = false
      }
    }
    return turns < turnsAtOnce ? immediately(poll) : later(poll, 1)
  }
  globalThis.setImmediate = Object.assign(patient, immediately, { [installed]: true }) as typeof setImmediate
}
