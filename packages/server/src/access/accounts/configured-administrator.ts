import { randomBytes } from 'node:crypto';
import { serviceSource } from '../../platform/audit/audit.ts';
import type { CommonDeps } from '../../platform/common-deps.ts';
import { Problem } from '../../platform/problem.ts';
import type { Secret } from '../../platform/secret.ts';
import { OperatorError } from '../../platform/server-process/operator-error.ts';
import type { AccountRepository } from './account-repository.ts';
import { newAccount } from './accounts.ts';
import { hashToken } from './sessions.ts';

export interface ConfiguredAdministratorDeps extends Pick<CommonDeps, 'audit' | 'clock' | 'newId'> {
  readonly repository: AccountRepository;
}

/** The administrator that the settings describe. */
export interface ConfiguredAdministrator {
  readonly name: string;
  readonly password: Secret;
}

/** Milliseconds in which the token of this function is used. */
const validMs = 60_000;

/**
 * Creates the administrator of the settings if there is no administrator. An administrator who exists keeps name and password.
 * @throws OperatorError when the name or the password is refused; it contains neither
 */
export async function createConfiguredAdministrator(
  deps: ConfiguredAdministratorDeps,
  { name, password }: ConfiguredAdministrator,
): Promise<void> {
  const { repository, clock, audit } = deps;
  if ((await repository.findPasswordAccount()) !== undefined) return;
  const account = await newAccount(deps, { name, password: password.reveal() }).catch((error: unknown) => {
    throw error instanceof Problem ? refused(error) : error;
  });
  // An administrator is created with a token only, so that one of several concurrent calls succeeds.
  const hash = hashToken(randomBytes(32).toString('base64url'));
  if ((await repository.keepSetUpToken({ hash, expiresAt: clock.now() + validMs })) !== 'stored') return;
  if (!(await repository.addPasswordAccount(account, hash, clock.now()))) return;
  await audit.record(serviceSource, { action: 'account.created', id: account.id, details: { name, by: 'settings' } });
}

function refused(problem: Problem): OperatorError {
  const reason = problem.message.replaceAll('body/', '');
  return new OperatorError(`QUARTERMASTER_ADMINISTRATOR_PASSWORD was refused: ${reason}`);
}
