/** A bundle that cannot be packed, installed or removed; the message is for whoever runs the command. */
export class PackagingError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'PackagingError';
  }
}

/** `detail` is a phrase without a full stop. */
export function archiveRefused(detail: string, cause?: unknown): PackagingError {
  return new PackagingError(`The archive is refused: ${detail}.`, cause);
}

export function bundleNotPackable(detail: string): PackagingError {
  return new PackagingError(`The bundle cannot be packed: ${detail}.`);
}

export function unsigned(id: string): PackagingError {
  return new PackagingError(`${id} is not signed. Install it only if you know where it comes from: --allow-unsigned.`);
}

export function publisherUnknown(id: string, key: string): PackagingError {
  return new PackagingError(
    `${id} is signed by ${key}, whom you do not trust yet. Compare the key with what the publisher says it is, then "bundle trust ${key}"; or install just this archive with --allow-unknown.`,
  );
}

export function publisherChanged(bundleId: string, before: string): PackagingError {
  return new PackagingError(
    `The bundle ${bundleId} is installed from another publisher (${before}). If the change is meant, "bundle remove ${bundleId}" first.`,
  );
}

export function idTaken(bundleId: string, folder: string): PackagingError {
  return new PackagingError(`The id ${bundleId} is taken by the bundle in ${folder}, which was not installed.`);
}

export function notInstalled(bundleId: string): PackagingError {
  return new PackagingError(`No bundle ${JSON.stringify(bundleId)} is installed.`);
}

export function mistakesInBundle(mistakes: readonly string[]): PackagingError {
  return new PackagingError(`The bundle has mistakes:\n${mistakes.map((line) => `  ${line}`).join('\n')}`);
}

export function keyUnreadable(file: string): PackagingError {
  return new PackagingError(`${file} is no ed25519 private key, as "bundle keygen" writes it.`);
}

/** Without the text, which may be a private key. */
export function publicKeyInvalid(): PackagingError {
  return new PackagingError('That is no public key: expected ed25519: and 43 characters.');
}

export function publishersUnreadable(file: string): PackagingError {
  return new PackagingError(`${file} holds no list of publishers. Remove it, and trust them again.`);
}

export function sealDamaged(bundleId: string): PackagingError {
  return new PackagingError(
    `The installed bundle ${bundleId} is damaged: nobody can tell who published it. "bundle remove ${bundleId}", then install it again.`,
  );
}
