import type { Admission as SharedAdmission } from '../../../platform/admission/admission.ts';
import type { Owner } from '../../../platform/admission/owner.ts';
import type { AnsweredRequest, Idempotency, RunningRequest } from '../../../platform/idempotency/idempotency.ts';
import { contentEncodingNotRead, fileTooLarge, tooManyUploads } from '../problems.ts';
import { multipartLimits } from './multipart.ts';
import { readBoundary } from './part-headers.ts';
import { longestOtherField } from './read-upload.ts';

/** The permission to send one upload: its place among the running uploads and its claim of an idempotency key. */
export interface Admission {
  readonly projectId: string;
  readonly uploaderId: string | null;
  readonly boundary: string;
  readonly claim: RunningRequest | AnsweredRequest | null;
  /** Releases the place and the claim. May be called more than once. */
  release(): Promise<void>;
}

/** The facts from the headers of an upload. */
export interface UploadHead {
  readonly projectId: string;
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
  /** Undefined for a chunked body. */
  readonly contentLength: number | undefined;
  /** The API key, or the administrator of a session. */
  readonly callerId: string;
  /** The key, if it is limited to collections. */
  readonly uploaderId: string | null;
  readonly idempotencyKey: string | undefined;
}

export interface Admissions {
  /** Refuses every request that can be refused before a byte of the body is read. */
  admit(head: UploadHead): Promise<Admission>;
  /**
   * Takes a place among the running uploads. Returns the function that releases it.
   * @throws TOO_MANY_REQUESTS
   */
  reserve(owner: Owner): () => void;
  inFlight(projectId: string): number;
}

export interface AdmissionsDeps {
  readonly idempotency: Idempotency;
  /** Throws SERVICE_UNAVAILABLE before the body is received while the database is known to be unavailable. */
  readonly assertAvailable: () => void;
  readonly maxFileBytes: number;
  /** The maximum number of uploads of a key while no other key has an upload: a quarter of all. */
  readonly maxUploadsInFlight: number;
  readonly admission: SharedAdmission;
}

/** The maximum number of bytes that a body can have in addition to its file. A larger difference proves a wrong length. */
export const maxMultipartOverhead =
  multipartLimits.parts * (multipartLimits.headerBytes + longestOtherField) + 4 * multipartLimits.surroundingBytes;

export function createAdmissions(deps: AdmissionsDeps): Admissions {
  const places = deps.admission.places('uploads', { places: 4 * deps.maxUploadsInFlight, refuse: tooManyUploads });

  const reserve = (owner: Owner) => places.enter(owner);

  async function claimKey(head: UploadHead): Promise<Admission['claim']> {
    if (head.idempotencyKey === undefined) return null;
    const { projectId, callerId, idempotencyKey: key } = head;
    // Nothing happens before the answer is stored with the file.
    return deps.idempotency.begin({ projectId, operation: 'upload', key, callerId, isRepeatable: true });
  }

  return {
    async admit(head) {
      const boundary = readBoundary(head.contentType);
      if (head.contentEncoding !== undefined && head.contentEncoding.toLowerCase() !== 'identity') {
        throw contentEncodingNotRead(head.contentEncoding);
      }
      if ((head.contentLength ?? 0) > deps.maxFileBytes + maxMultipartOverhead) throw fileTooLarge(deps.maxFileBytes);
      deps.assertAvailable();
      const releaseSlot = reserve({ projectId: head.projectId, keyId: head.callerId });
      try {
        const claim = await claimKey(head);
        return {
          projectId: head.projectId,
          uploaderId: head.uploaderId,
          boundary,
          claim,
          release: async () => {
            try {
              if (claim?.kind === 'running') await claim.release();
            } finally {
              releaseSlot();
            }
          },
        };
      } catch (error) {
        releaseSlot();
        throw error;
      }
    },
    reserve,
    inFlight: (projectId) => places.held({ projectId, keyId: null }).project,
  };
}
