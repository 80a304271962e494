import { setTimeout as pause, setImmediate } from 'node:timers/promises';

/** The polls after which the wait pauses, because a thread or another process is to make the condition true. */
const pollsWithoutPause = 50;
/** Milliseconds. The condition may be a request, and one every 5 ms takes half of a processor from what it waits for. */
const [firstPause, longestPause] = [5, 25];

/** Waits until the condition is true. The time limit of the test file ends a wait that would last forever. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  // A wait without pauses takes the processor from what it waits for.
  for (let polls = 0; !(await isTrue()); polls++) {
    const pauses = polls - pollsWithoutPause;
    await (pauses < 0 ? setImmediate() : pause(Math.min(firstPause + pauses / 10, longestPause)));
  }
}
