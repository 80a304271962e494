/** Fetches the page of a web record. It decides which addresses may be reached, how long and how much. */
export interface PageFetcher {
  fetch(url: string, signal: AbortSignal): Promise<FetchedPage | FailedPage>;
}

export interface FetchedPage {
  readonly kind: 'page';
  readonly bytes: Uint8Array;
  /** The format, as the answer's Content-Type says. */
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
