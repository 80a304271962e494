import { commandName } from '@quartermaster/contract/command-name';

/** A bundle cannot be packed, installed or removed. The command line prints the message. */
export class PackagingError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'PackagingError';
  }
}

/** @param detail a phrase without a full stop */
export function archiveRefused(detail: string, cause?: unknown): PackagingError {
  return new PackagingError(`The archive was not installed: ${detail}.`, cause);
}

/** @param reason a clause without a full stop @param remedy a sentence */
export function bundleNotPackable(reason: string, remedy: string): PackagingError {
  return new PackagingError(`The bundle was not packed, because ${reason}. ${remedy}`);
}

export function unsigned(id: string): PackagingError {
  return new PackagingError(`${id} is not signed. If you know where it comes from, install it with --allow-unsigned.`);
}

export function publisherUnknown(id: string, key: string): PackagingError {
  return new PackagingError(
    `${id} is signed by ${key}, which you do not trust yet. Compare the key with the one that the publisher announces, then run "${commandName} bundle trust ${key}". To install only this archive, use --allow-unknown.`,
  );
}

export function publisherChanged(bundleId: string, before: string): PackagingError {
  return new PackagingError(
    `The bundle ${bundleId} is already installed from another publisher (${before}). To change the publisher, run "${commandName} bundle remove ${bundleId}" first.`,
  );
}

export function idTaken(bundleId: string, folder: string): PackagingError {
  return new PackagingError(
    `The bundle in ${folder} already uses the id ${bundleId}, and it is none of the installed bundles. Choose another id (--id), or remove that folder first.`,
  );
}

export function notInstalled(bundleId: string): PackagingError {
  return new PackagingError(
    `The bundle ${JSON.stringify(bundleId)} is not installed. Run "${commandName} bundle list" to see the installed bundles.`,
  );
}

const remedyOf = {
  packed: 'Correct them, then pack it again:',
  installed: 'Ask its publisher for a corrected archive:',
} as const;

export function bundleInvalid(errors: readonly string[], undone: 'packed' | 'installed'): PackagingError {
  const lines = errors.map((line) => `\n  ${line}`).join('');
  return new PackagingError(`The bundle was not ${undone}, because it has errors. ${remedyOf[undone]}${lines}`);
}

export function keyUnreadable(file: string): PackagingError {
  return new PackagingError(
    `${file} does not hold an ed25519 private key. Create one with "${commandName} bundle keygen".`,
  );
}

/** The message does not quote the text, which may be a private key. */
export function publicKeyInvalid(): PackagingError {
  return new PackagingError(
    `The public key must be "ed25519:" and 43 characters; received another form. Copy the line that "${commandName} bundle keygen" printed for the publisher.`,
  );
}

export function publishersUnreadable(file: string): PackagingError {
  return new PackagingError(
    `${file} does not hold a list of publishers. Remove the file, then run "${commandName} bundle trust" for each publisher.`,
  );
}

export function signatureFileDamaged(bundleId: string): PackagingError {
  return new PackagingError(
    `The installed bundle ${bundleId} is damaged: its publisher cannot be verified. Run "${commandName} bundle remove ${bundleId}", then install it again.`,
  );
}
