/** The texts and examples of every operation of the API. */
export * from './applications.ts';
export * from './artifacts.ts';
export * from './audit.ts';
export * from './catalogue.ts';
export * from './chunks.ts';
export * from './collections.ts';
export * from './credential-profiles.ts';
export * from './dialects.ts';
export * from './execution.ts';
export * from './files.ts';
export * from './operation.ts';
export * from './probes.ts';
export * from './projects.ts';
export * from './records.ts';
export * from './runs.ts';
export * from './sessions.ts';
export * from './variables.ts';
