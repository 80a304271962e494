export * from './handler.ts';
export * from './manifest.ts';
