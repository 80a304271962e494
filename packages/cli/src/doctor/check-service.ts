import { ApiError, AuthenticationError, Quartermaster } from '@quartermaster/client';
import { commandName } from '@quartermaster/contract/command-name';
import { describePermissions } from '@quartermaster/contract/scopes';
import { type Connection, type ConnectionOptions, findConnection } from '../connection/connection.ts';
import { describeFailure } from '../describe-failure.ts';
import { exposureWarning, isExposed } from '../login/log-in.ts';
import { version } from '../version.ts';
import { type Check, failed, ok, warning } from './check.ts';
import { checkCertificate } from './check-certificate.ts';

const mostClockSkewMs = 60_000;

/** Checks an address step by step. The checks end at a step whose failure makes the next ones meaningless. */
export async function* checkService(options: ConnectionOptions): AsyncGenerator<Check> {
  let connection: Connection;
  try {
    connection = await findConnection(options, 'files');
  } catch (error) {
    yield failed('login', describeFailure(error).message);
    return;
  }
  const { filesUrl, pluginsUrl } = connection;
  if (filesUrl === undefined) {
    yield failed('address', 'QUARTERMASTER_URL is not set. Set it to the files address.');
    return;
  }
  const isReached = yield* checkAddress(filesUrl);
  // A failed handshake may be the reason why no service answers.
  if (isReached || filesUrl.startsWith('https:')) yield await checkEncryption(filesUrl);
  if (!isReached) return;
  yield* checkKey(connection, filesUrl);
  if (pluginsUrl !== undefined) yield await checkPlugins(filesUrl, pluginsUrl);
}

/** The key is not sent. */
async function* checkAddress(filesUrl: string): AsyncGenerator<Check, boolean> {
  const { service } = new Quartermaster({ baseUrl: filesUrl, maxRetries: 0, timeout: 10_000 });
  try {
    const began = performance.now();
    const { data, response } = await service.version().withResponse();
    yield ok('address', `${filesUrl} answers after ${Math.round(performance.now() - began)} ms`);
    yield compareVersions(data.version);
    yield compareClocks(response.headers.get('date'), Date.now());
  } catch (error) {
    yield failed('address', `${describeFailure(error).message}${certificateRemedy(error)}`);
    return false;
  }
  try {
    await service.readiness();
    yield ok('readiness', 'the service can serve requests');
  } catch (error) {
    yield failed('readiness', describeFailure(error).message);
  }
  return true;
}

function certificateRemedy(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.cause : undefined;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : '';
  if (!/CERT|SELF_SIGNED|UNABLE_TO/.test(code)) return '';
  return ' If the certificate is of your own authority, set NODE_EXTRA_CA_CERTS to the file of the authority.';
}

function compareVersions(served: string): Check {
  if (served === version) return ok('version', served);
  return warning(
    'version',
    `The service has version ${served}, and this command line ${version}. Use the command line of the service's version.`,
  );
}

/** @param date header of the response; its resolution is a second */
export function compareClocks(date: string | null, now: number): Check {
  const skew = date === null ? Number.NaN : now - Date.parse(date);
  if (Number.isNaN(skew)) return warning('clock', 'The response has no date, so that the clocks cannot be compared.');
  const seconds = Math.round(Math.abs(skew) / 1000);
  if (Math.abs(skew) <= mostClockSkewMs) return ok('clock', `differs from that of the service by ${seconds} s`);
  return warning(
    'clock',
    `This machine is ${seconds} s ${skew > 0 ? 'ahead of' : 'behind'} the service. Synchronise both clocks (NTP).`,
  );
}

async function checkEncryption(url: string): Promise<Check> {
  if (isExposed(url)) return warning('encryption', exposureWarning(url).replace(/^Warning: /, ''));
  if (url.startsWith('http:')) return ok('encryption', 'not needed for an address of this machine');
  return await checkCertificate(url);
}

async function* checkKey(connection: Connection, filesUrl: string): AsyncGenerator<Check> {
  const { apiKey } = connection;
  if (apiKey === undefined) {
    yield failed(
      'key',
      `There is no API key for ${filesUrl}. Run "${commandName} login", or set QUARTERMASTER_API_KEY.`,
    );
    return;
  }
  try {
    const key = await new Quartermaster({ baseUrl: filesUrl, apiKey, timeout: 10_000 }).keys.own();
    yield ok('key', 'the service accepts it');
    // A key that may do less than commands need is no fault: agents get such keys.
    yield ok('permissions', describePermissions(key).join(' '));
  } catch (error) {
    const isRefused = error instanceof AuthenticationError || error instanceof ApiError;
    yield failed('key', `${isRefused ? '' : 'The key was not checked. '}${describeFailure(error).message}`);
  }
}

async function checkPlugins(filesUrl: string, pluginsUrl: string): Promise<Check> {
  const { plugins } = new Quartermaster({ baseUrl: filesUrl, pluginsUrl, maxRetries: 0, timeout: 10_000 });
  try {
    await plugins.service.version();
    return ok('plugins', `${pluginsUrl} answers`);
  } catch (error) {
    return failed('plugins', describeFailure(error).message);
  }
}
