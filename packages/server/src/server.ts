/** The door of the package: start the service, as a program or inside a test. */
export { openService, type Service } from './compose.ts';
export { type Config, ConfigError, type Environment, parseConfig, processEnvironment } from './config.ts';
export { createLogger, type Logger } from './kernel/logger.ts';
export { runUntilSignal } from './run.ts';
export { version } from './version.ts';
