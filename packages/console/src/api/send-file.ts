import { type ApiError, readApiError } from '@quartermaster/client/api';
import type { Purpose } from '@quartermaster/contract';
import { basePath } from '../base-path.ts';
import { sessionHeaders } from './addresses.ts';

export interface SentFile {
  readonly file: File;
  readonly purpose: Purpose;
  readonly projectId: string;
}

export interface SendingEvents {
  readonly onProgress: (sentBytes: number) => void;
  /** All bytes are sent; the service checks them. */
  readonly onSent: () => void;
  readonly onStored: (fileId: string) => void;
  readonly onFailed: (error: ApiError | 'connection') => void;
}

/** Uploads a file. It uses XMLHttpRequest, because fetch does not report upload progress. */
export function sendFile({ file, purpose, projectId }: SentFile, events: SendingEvents): XMLHttpRequest {
  const request = new XMLHttpRequest();
  const form = new FormData();
  form.set('purpose', purpose);
  form.set('file', file, file.name);
  request.upload.onprogress = ({ loaded }) => events.onProgress(Math.min(file.size, loaded));
  request.upload.onload = events.onSent;
  request.onload = () => {
    if (request.status !== 200) events.onFailed(readApiError(request.status, request.responseText));
    else events.onStored((JSON.parse(request.responseText) as { data: { file_id: string } }).data.file_id); // the contract of the path
  };
  request.onerror = () => events.onFailed('connection');
  request.open('POST', `${basePath}/v1/files`);
  for (const [name, value] of Object.entries(sessionHeaders(projectId))) request.setRequestHeader(name, value);
  request.send(form);
  return request;
}

/**
 * Uploads a file and returns its id.
 * @param offline the message of the error when there is no connection
 * @throws ApiError
 */
export async function storeFile(sent: SentFile, offline: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  sendFile(sent, {
    onProgress: () => undefined,
    onSent: () => undefined,
    onStored: resolve,
    onFailed: (error) => reject(error === 'connection' ? new Error(offline) : error),
  });
  return await promise;
}
