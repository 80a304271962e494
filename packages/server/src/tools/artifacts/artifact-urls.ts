import { timingSafeEqual } from 'node:crypto';
import type { KeyedHashes } from '../../platform/keyed-hash.ts';
import { projectText } from '../../platform/project-text.ts';

/** The permission of a signed URL: it reads one artifact of a project without a key until it expires. */
export interface SignedRead {
  readonly artifactId: string;
  /** null when the artifact belongs to no project. */
  readonly projectId: string | null;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Signs the URLs of artifacts and checks them. Every process of a store accepts the URLs of the others. */
export interface ArtifactUrls {
  sign(read: SignedRead): string;
  /** Whether this service signed these values. The caller checks the time. */
  isSigned(read: SignedRead, signature: string): boolean;
  /** Returns the id of the artifact that a URL of this service reads. */
  idOf(url: string): string;
}

/**
 * @param baseUrl of the plugins address
 * @param hashes HMAC-SHA-256 with keys that are derived from the secret of the store
 */
export function createArtifactUrls(baseUrl: string, hashes: KeyedHashes): ArtifactUrls {
  const base = baseUrl.replace(/\/$/, '');
  return {
    sign(read) {
      const [signature = ''] = hashes(signedText(read));
      const project = projectText(read.projectId);
      const query = new URLSearchParams({ project, expires: String(read.expiresAt), signature });
      return `${base}/v1/artifacts/${read.artifactId}/content?${query}`;
    },
    idOf: (url) => new URL(url).pathname.split('/').at(-2) ?? '',
    isSigned(read, signature) {
      const given = Buffer.from(signature);
      const valid = hashes(signedText(read)).map((hash) => Buffer.from(hash));
      return valid.some((hash) => hash.length === given.length && timingSafeEqual(hash, given));
    },
  };
}

/** The first line distinguishes this use of the keys from all others. */
function signedText({ artifactId, projectId, expiresAt }: SignedRead): string {
  return ['artifact url', artifactId, projectText(projectId), expiresAt].join('\n');
}
