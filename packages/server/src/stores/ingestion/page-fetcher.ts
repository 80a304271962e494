/** Fetches the page of a web record. It enforces the allowed addresses, the time limit and the size limit. */
export interface PageFetcher {
  fetch(url: string, signal: AbortSignal): Promise<FetchedPage | FailedPage>;
}

export interface FetchedPage {
  readonly kind: 'page';
  readonly bytes: Uint8Array;
  /** The format, according to the Content-Type header of the response. */
  readonly extension: 'html' | 'txt' | 'md' | 'pdf';
  /** The charset of the Content-Type header. */
  readonly charset?: string;
}

export interface FailedPage {
  readonly kind: 'failed';
  /** The `error.code` of the record, such as `page_unreachable`. */
  readonly code: string;
  readonly message: string;
}
