/** Time comes from here, so that tests can set it. Milliseconds since 1970-01-01 UTC. */
export interface Clock {
  now(): number;
}
export const systemClock: Clock = { now: () => Date.now() };
