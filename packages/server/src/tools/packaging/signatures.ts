import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign as signBytes,
  verify as verifyBytes,
} from 'node:crypto';
import { publicKeyInvalid } from './problems.ts';

/** The public key of a publisher: `ed25519:` and base64url. */
export type PublicKeyText = `ed25519:${string}`;

export interface Signature {
  readonly algorithm: 'ed25519';
  readonly public_key: PublicKeyText;
  /** base64url */
  readonly signature: string;
}

/** The prefix of signed bytes, so that a signature is invalid in any other context. */
const purpose = Buffer.from('quartermaster bundle 1\n');

/** Creates a key pair: the private key as PEM, the public key as shared text. */
export function newKeyPair(): { readonly privatePem: string; readonly publicKey: PublicKeyText } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return { privatePem: String(privateKey.export({ type: 'pkcs8', format: 'pem' })), publicKey: textOf(publicKey) };
}

/** Undefined when the text is not an ed25519 private key. */
export function readPrivateKey(pem: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a file is a private key in PEM, of any kind, encrypted or not. */
export function isPrivateKey(content: Buffer): boolean {
  return /^\s*-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(content.toString('latin1', 0, 200));
}

export function sign(contents: Uint8Array, privateKey: KeyObject): Signature {
  const signature = signBytes(null, Buffer.concat([purpose, contents]), privateKey).toString('base64url');
  return { algorithm: 'ed25519', public_key: textOf(createPublicKey(privateKey)), signature };
}

/** Whether the signature over these contents is valid for its public key. */
export function isSignedBy(contents: Uint8Array, { public_key, signature }: Signature): boolean {
  const bytes = Buffer.from(signature, 'base64url');
  return bytes.length === 64 && verifyBytes(null, Buffer.concat([purpose, contents]), keyOf(public_key), bytes);
}

/** @throws PackagingError when the text is not a public key */
export function readPublicKey(text: string): PublicKeyText {
  const trimmed = text.trim();
  if (!isPublicKeyText(trimmed)) throw publicKeyInvalid();
  return trimmed;
}

export function isPublicKeyText(text: unknown): text is PublicKeyText {
  return typeof text === 'string' && /^ed25519:[A-Za-z0-9_-]{43}$/.test(text);
}

function textOf(publicKey: KeyObject): PublicKeyText {
  // A JWK of this type always has `x`.
  return `ed25519:${String(publicKey.export({ format: 'jwk' }).x)}`;
}

function keyOf(text: PublicKeyText): KeyObject {
  const x = text.slice('ed25519:'.length);
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
}
