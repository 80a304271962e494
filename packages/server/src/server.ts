/** The public entry point of the package. Starts the service, as a program or inside a test. */

export { openService, type Service } from './app/service/compose.ts';
export { runUntilSignal } from './app/service/run.ts';
export { type Config, ConfigError, type Environment, parseConfig, processEnvironment } from './app/settings/config.ts';
export { createLogger, type Logger } from './platform/log/logger.ts';
export { version } from './platform/version.ts';
