/**
 * All pairs of a sender and a receiver. In round k, device s sends to device s + k, so that every device sends
 * and receives once at a time.
 */
export function* inRounds(devices: number): Generator<readonly [sender: number, receiver: number]> {
  for (let round = 0; round < devices; round++)
    for (let sender = 0; sender < devices; sender++) yield [sender, (sender + round) % devices]
}
