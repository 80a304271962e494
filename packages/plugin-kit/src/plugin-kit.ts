export * from './api-facts.ts';
export * from './handler.ts';
export * from './injection.ts';
export * from './manifest.ts';
export * from './oauth.ts';
