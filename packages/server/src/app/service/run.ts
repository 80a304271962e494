import { setTimeout as pause } from 'node:timers/promises';
import type { SetUpLink } from '../../access/accounts/set-up-link.ts';
import { isLoopback } from '../../platform/http/allowed-hosts.ts';
import { createLogDestination, createReadableDestination } from '../../platform/log/log-destination.ts';
import { createLogger, type Logger } from '../../platform/log/logger.ts';
import type { Secret } from '../../platform/secret.ts';
import { FatalError } from '../../platform/server-process/fatal-error.ts';
import { OperatorError } from '../../platform/server-process/operator-error.ts';
import { startWatchdog, type Watchdog } from '../../platform/server-process/watchdog.ts';
import { version } from '../../platform/version.ts';
import { type Config, ConfigError, parseConfig, processEnvironment } from '../settings/config.ts';
import type { ModelConfig } from '../settings/models-file.ts';
import { isSafeUrl } from '../settings/setting-checks.ts';
import { openService, type Service } from './compose.ts';

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

/** Lists the connections that the settings leave unencrypted, each with its remedy. Connections within this machine are not listed. */
export function transportWarnings(config: Config): string[] {
  const warnings: string[] = [];
  const urls = [config.publicFilesUrl, config.publicPluginsUrl];
  if (!isLoopback(config.host) && !urls.some((url) => url?.startsWith('https:'))) {
    warnings.push(
      'QUARTERMASTER_HOST is not a loopback address and no public URL has https: keys and passwords cross the network unencrypted. Put a proxy with TLS in front and set the public URLs.',
    );
  }
  const endpoint = config.blobs?.endpoint ?? null;
  if (endpoint !== null && !isSafeUrl(endpoint))
    warnings.push('AWS_ENDPOINT_URL has http, so the content of files is sent unencrypted. Use an https URL.');
  if (config.databaseUrl !== null && !isEncrypted(config.databaseUrl.reveal())) {
    warnings.push(
      'The connection to PostgreSQL is unencrypted. Add sslmode=verify-full to QUARTERMASTER_DATABASE_URL.',
    );
  }
  if (isOpen(config)) {
    warnings.push('The connection to the embedding service is unencrypted. Use https in QUARTERMASTER_EMBEDDING_URL.');
  }
  if (config.furtherModels.some(isOpen)) {
    warnings.push(
      'The connection to an embedding service is unencrypted. Use https in each url of QUARTERMASTER_EMBEDDING_MODELS_FILE.',
    );
  }
  if (config.rerankerProvider !== 'none' && config.rerankerUrl !== null && isOpenUrl(config.rerankerUrl)) {
    warnings.push('The connection to the reranking service is unencrypted. Use https in QUARTERMASTER_RERANKER_URL.');
  }
  return warnings;
}

/** Whether texts for the model cross a network unencrypted. */
function isOpen({ embeddingProvider, embeddingUrl }: ModelConfig): boolean {
  const usesService = !['none', 'onnx'].includes(embeddingProvider);
  return usesService && embeddingUrl !== null && isOpenUrl(embeddingUrl);
}

function isOpenUrl(text: string): boolean {
  const { protocol, hostname } = new URL(text);
  return protocol === 'http:' && !isLoopback(hostname);
}

/** Whether the URL requires TLS or leads to this machine: a loopback address or a Unix socket. */
function isEncrypted(databaseUrl: string): boolean {
  if (!URL.canParse(databaseUrl)) return true;
  const { hostname, searchParams } = new URL(databaseUrl);
  const host = searchParams.get('host') ?? hostname;
  if (host === '' || host.startsWith('/') || isLoopback(host)) return true;
  const mode = searchParams.get('sslmode');
  return (mode !== null && mode !== 'disable') || searchParams.get('ssl') === 'true';
}

/** The information that people need to use a started service. */
export interface Started {
  readonly version: string;
  /** The preferred URL first; empty when this process does not serve that address. */
  readonly filesUrls: readonly string[];
  readonly pluginsUrls: readonly string[];
  /** Set until a request uses the key. */
  readonly firstKey: { readonly key: Secret; readonly file: string } | undefined;
  /** Set while there is no administrator. */
  readonly setUpLink: SetUpLink | undefined;
}

export interface TerminalOptions {
  /** The public URL of the console behind a proxy. */
  readonly publicFilesUrl: string | null;
  /** One sentence for each unencrypted connection. */
  readonly warnings: readonly string[];
}

/** Formats the start message for a terminal, with the first key, the setup link and the URL to open. */
export function formatBanner(started: Started, { publicFilesUrl, warnings }: TerminalOptions): string {
  const { firstKey, setUpLink } = started;
  const consoleUrl = started.filesUrls.length === 0 ? undefined : (publicFilesUrl ?? started.filesUrls[0]);
  const lines = [
    '',
    `Quartermaster ${started.version} is ready. Press Ctrl-C to stop it.`,
    '',
    ...addressLines(started),
  ];
  if (firstKey !== undefined) {
    lines.push(
      row('first API key', `${firstKey.key.reveal()}   (shown until its first use; also in ${firstKey.file})`),
    );
  }
  for (const warning of warnings) lines.push(row('warning', warning));
  if (setUpLink !== undefined) {
    lines.push(
      '',
      `  Open this link to create the console account (once, within an hour; also in ${setUpLink.file}):`,
      `  ${setUpLink.link.reveal()}`,
    );
  } else if (consoleUrl !== undefined) lines.push('', '  Open the console:', `  ${consoleUrl}`);
  return [...lines, ''].join('\n');
}

/**
 * Formats the start message for other outputs, which are often stored where others can read them. Secrets appear only as file
 * names.
 */
export function formatAddresses(started: Started): string {
  const { firstKey, setUpLink } = started;
  return [
    `Quartermaster ${started.version}`,
    ...addressLines(started),
    ...(firstKey === undefined ? [] : [row('first API key', `in ${firstKey.file}`)]),
    ...(setUpLink === undefined ? [] : [row('set up console', `link in ${setUpLink.file}`)]),
  ].join('\n');
}

function addressLines({ filesUrls, pluginsUrls }: Started): string[] {
  return [
    ...(filesUrls.length === 0 ? [] : [row('files address', `${filesUrls.join('  ')}   (API and console)`)]),
    ...(pluginsUrls.length === 0 ? [] : [row('plugins address', `${pluginsUrls.join('  ')}   (API and MCP)`)]),
  ];
}

function row(name: string, text: string): string {
  return `  ${name.padEnd(17)}${text}`;
}
