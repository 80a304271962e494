export { type Client, type ClientOptions, createClient } from './create-client.ts';
export { ApiError } from './request.ts';
export type { FollowOptions, RunEvent } from './run-calls.ts';
export { readServerEvents, type ServerEvent } from './server-events.ts';
