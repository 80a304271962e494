export * from './codes.ts';
export * from './collections.ts';
export * from './envelope.ts';
export * from './files.ts';
export * from './plugins.ts';
export * from './purposes.ts';
export * from './runs.ts';
export * from './scopes.ts';
