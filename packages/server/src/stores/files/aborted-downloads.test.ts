import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { createAdmission } from '../../platform/admission/admission.ts';
import { createDownloadOrder } from './download-order.ts';
import { answerContent } from './file-content.ts';
import { upload } from './testing/ask.ts';
import { startFilesService } from './testing/files-service.ts';

const downloadOrder = createDownloadOrder(createAdmission());

const whole = { range: undefined, ifRange: undefined, ifNoneMatch: undefined, headOnly: false };

describe('a download whose client is gone', () => {
  for (const [name, range] of [
    ['of a whole file', whole],
    ['of a range', { ...whole, range: 'bytes=0-1' }],
  ] as const) {
    test(`${name} closes the stored bytes before the first read`, async () => {
      await using service = await startFilesService();
      const file = await service.files.find('projecta', await upload(service, { content: 'green' }));
      assert.ok(file);
      const opened: Readable[] = [];
      const blobs = {
        ...service.blobs,
        open: async (...args: Parameters<typeof service.blobs.open>) => {
          const stored = await service.blobs.open(...args);
          opened.push(stored);
          return stored;
        },
      };
      const { body } = await answerContent({ ...service, blobs, downloadOrder }, file, range);
      const [stored] = opened;
      assert.ok(body && stored);
      const closed = once(stored, 'close');
      body.destroy();
      await closed;
    });
  }
});
