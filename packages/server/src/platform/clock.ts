/** The source of time, which tests can replace. Milliseconds since 1970-01-01 UTC. */
export interface Clock {
  now(): number;
}
export const systemClock: Clock = { now: () => Date.now() };
