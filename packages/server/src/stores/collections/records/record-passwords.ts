import { Secret } from '../../../platform/secret.ts';
import { encryptionKeyMissing } from '../problems.ts';
import type { RecordKey } from './record-repository.ts';

/** Encrypts texts with the operator's keys, each for one place (ADR 0029). */
export interface PasswordEncrypter {
  encrypt(plain: string, place: readonly string[]): { readonly text: string };
  /** @returns null when none of the keys decrypts it */
  decrypt(encrypted: string, place: readonly string[]): string | null;
}

/** The passwords of files. They are stored from the request until the work on the record has ended. */
export interface RecordPasswords {
  /** @throws NOT_CONFIGURED without an encryption key */
  encrypt(record: Pick<RecordKey, 'projectId' | 'recordId'>, password: string | null): string | null;
  /** @returns null when none is stored, or no key of this process decrypts it */
  decrypt(record: Pick<RecordKey, 'projectId' | 'recordId'>, encrypted: string | null): Secret | null;
}

export function createRecordPasswords(encrypter: PasswordEncrypter | null): RecordPasswords {
  return {
    encrypt(record, password) {
      if (password === null) return null;
      if (encrypter === null) throw encryptionKeyMissing();
      return encrypter.encrypt(password, placeOf(record)).text;
    },
    decrypt(record, encrypted) {
      const plain = encrypted === null ? null : (encrypter?.decrypt(encrypted, placeOf(record)) ?? null);
      return plain === null ? null : new Secret(plain);
    },
  };
}

/** The context that a ciphertext is bound to, so that the text of one row does not decrypt in another. */
function placeOf({ projectId, recordId }: Pick<RecordKey, 'projectId' | 'recordId'>): string[] {
  return ['record_password', projectId, recordId];
}
