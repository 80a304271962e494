import { setTimeout as pause } from 'node:timers/promises';
import { createLogDestination } from '../../platform/log/log-destination.ts';
import { createLogger, type Logger } from '../../platform/log/logger.ts';
import { createReadableDestination } from '../../platform/readable-log.ts';
import { FatalError } from '../../platform/server-process/fatal-error.ts';
import { OperatorError } from '../../platform/server-process/operator-error.ts';
import { startWatchdog, type Watchdog } from '../../platform/server-process/watchdog.ts';
import { version } from '../../platform/version.ts';
import { type Config, ConfigError, parseConfig, processEnvironment } from '../settings/config.ts';
import { formatAddresses, formatBanner } from './banner.ts';
import { openService, type Service } from './compose.ts';
import { transportWarnings } from './transport-warnings.ts';

/** Seconds between a stop signal and the closing of the addresses, except on a terminal. */
const unattendedDrainSeconds = 5;
/** Milliseconds within which signals count as one. npm forwards a Ctrl-C that the terminal has already sent to its child. */
const sameSignalMs = 500;

/**
 * Runs the service until SIGTERM or SIGINT; a second signal ends the process immediately. Logs go to standard error: one JSON object
 * per line, or readable lines on a terminal. The start message goes to standard output. The exit code is 0 after an orderly stop,
 * otherwise 1.
 */
export async function runUntilSignal(): Promise<void> {
  const { stderr } = process;
  const destination = stderr.isTTY
    ? createReadableDestination(stderr, { colours: stderr.hasColors() })
    : createLogDestination(stderr.fd);
  let logger: Logger | undefined;
  let watchdog: Watchdog | undefined;
  // Replaces Node's listener, which would open the debugger to all users of the machine.
  process.on('SIGUSR1', () => logger?.warn('debugger refused'));
  try {
    const config = parseConfig(processEnvironment());
    logger = createLogger(config.logLevel, destination);
    endOnDefect(logger, destination);
    for (const warning of transportWarnings(config)) logger.warn({ warning }, 'connection not encrypted');
    watchdog = startWatchdog({
      seconds: config.watchdogSeconds,
      logFd: config.logLevel === 'silent' ? null : process.stderr.fd,
    });
    let stopping = Promise.resolve();
    // From this point a signal must not interrupt accepted requests.
    const beforeListening = () => {
      stopping = stopSignal();
      watchdog?.watch();
    };
    const service = await openService(config, logger, { beforeListening, watchdog });
    greet(service, config);
    await stopping;
    const seconds = config.drainSeconds ?? (process.stdout.isTTY ? 0 : unattendedDrainSeconds);
    logger.info({ drain_seconds: seconds }, 'service stop requested');
    service.drain();
    await pause(seconds * 1000);
    await service.close();
    logger.info('service stopped');
  } catch (error) {
    process.exitCode = 1;
    // Without valid settings there is no log level.
    const log = logger ?? createLogger('info', destination);
    // Reported once: as a sentence on a terminal, otherwise as a log line.
    if (stderr.isTTY) console.error(`quartermaster: ${(error as Error).message}`);
    else log.fatal(fieldsOf(error), 'service failed');
  } finally {
    await watchdog?.close();
    await destination.end();
  }
}

/**
 * The fields of the log line of a failure. The sentences of an error that the operator can correct replace the stack, and often
 * contain the cause.
 */
function fieldsOf(error: unknown): Readonly<Record<string, unknown>> {
  if (error instanceof ConfigError) return { reason: 'The settings are not valid.', errors: error.errors };
  if (!(error instanceof OperatorError)) return { err: error };
  const { message: reason, cause } = error;
  return cause instanceof Error && !reason.includes(cause.message) ? { reason, cause: cause.message } : { reason };
}

/** Prints the start message, after the log lines of the start. */
function greet(service: Service, config: Config): void {
  const started = { version, ...service };
  const options = { publicFilesUrl: config.publicFilesUrl, warnings: transportWarnings(config) };
  console.log(process.stdout.isTTY ? formatBanner(started, options) : formatAddresses(started));
}

/** Resolves at the first signal; a later one ends the process. Before this call the first signal ends the process. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let first: number | undefined;
    const onSignal = () => {
      first ??= performance.now();
      if (performance.now() - first > sameSignalMs) process.exit(1);
      resolve();
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
}

/** Logs an uncaught error and exits, because the state of the process is unknown. Acknowledged data is on the disk. */
function endOnDefect(logger: Logger, destination: { flushSync(): void }): void {
  const end = (error: unknown) => {
    const isFatal = error instanceof FatalError;
    logger.fatal({ err: error }, isFatal ? error.message : 'defect: uncaught error');
    destination.flushSync();
    process.exit(isFatal ? error.exitCode : 1);
  };
  process.on('uncaughtException', end);
  process.on('unhandledRejection', end);
}
