import { isSendable, type Picture } from '../ocr/recognition.ts';

/** The announcement of a picture. Its bytes follow. */
export interface PictureMessage {
  readonly type: 'picture';
  readonly width: number;
  readonly height: number;
  readonly dpi: number;
}

export interface PictureCollector {
  begin(message: PictureMessage): void;
  /** @returns the picture when it is complete */
  add(bytes: Buffer): Picture | undefined;
}

/**
 * Collects the bytes of one picture after another. A malicious document may control the reader, so the sizes are
 * checked before memory is allocated. Both functions throw a TypeError for what a reader never sends.
 */
export function createPictureCollector(maxPixels: number): PictureCollector {
  let current: { readonly message: PictureMessage; readonly gray: Buffer; length: number } | undefined;
  return {
    begin: (message) => {
      const { width, height } = message;
      if (current !== undefined || !isSendable(message, maxPixels))
        throw new TypeError('not a picture that may be sent now');
      current = { message, gray: Buffer.allocUnsafeSlow(width * height), length: 0 };
    },
    add: (bytes) => {
      if (current === undefined || current.length + bytes.length > current.gray.length)
        throw new TypeError('bytes without a picture');
      current.length += bytes.copy(current.gray, current.length);
      if (current.length < current.gray.length) return undefined;
      const { message, gray } = current;
      current = undefined;
      return { width: message.width, height: message.height, dpi: message.dpi, gray };
    },
  };
}
