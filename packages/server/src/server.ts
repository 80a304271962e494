/** The public entry point of the package. Starts the service, as a program or inside a test. */

export { createLogger, type Logger } from './kernel/log/logger.ts';
export { version } from './kernel/version.ts';
export { openService, type Service } from './service/compose.ts';
export { runUntilSignal } from './service/run.ts';
export { type Config, ConfigError, type Environment, parseConfig, processEnvironment } from './settings/config.ts';
