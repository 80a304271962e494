import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layOut } from '../../document.ts';
import type { Ocr, Picture } from '../../ocr/recognition.ts';
import { scannedPdf } from '../testing/scanned-pdf.fixture.ts';
import { readPdf } from './read-pdf.ts';

/** Answers with the lines of one paragraph, as tesseract does, and keeps the pictures. */
function ocrOf(lines: readonly string[]): Ocr & { readonly pictures: Picture[] } {
  const pictures: Picture[] = [];
  const rows = lines.flatMap((line, at) =>
    line.split(' ').map((word, place) => ['5', 1, 1, 1, at, place, 40 * place, 40 * at, 30, 20, 95, word].join('\t')),
  );
  return {
    pictures,
    job: { kind: 'on', engine: 'test', languages: ['eng'], maxPixels: 25_000_000, maxPages: 50 },
    recognize: async (picture) => {
      pictures.push(picture);
      return { kind: 'read', tsv: rows.join('\n'), seconds: 0 };
    },
  };
}

/** Lines of one pixel, which show each row and each column that is lost or added. */
function striped(width: number, height: number, dpi: number): Picture {
  const gray = Buffer.alloc(width * height, 255);
  for (let at = 0; at < gray.length; at += 1) if (at % 7 === 0 || Math.floor(at / width) % 5 === 0) gray[at] = 0;
  return { width, height, dpi, gray };
}

test('a page that is one picture is drawn with the pixels of the picture', async () => {
  // A page as many scanners write it, one whose resolution is no whole number, and one above the usual resolution.
  const pictures = [striped(1240, 1754, 150), striped(1275, 1650, 150.3), striped(1654, 2339, 400)];
  for (const picture of pictures) {
    for (const rotate of [0, 180] as const) {
      const ocr = ocrOf(['word']);
      const { blocks } = await readPdf(scannedPdf([{ picture, rotate }]), { ocr });
      const [drawn] = ocr.pictures;
      const gray = rotate === 0 ? picture.gray : Buffer.from(picture.gray).reverse();
      assert.deepEqual(
        [drawn?.width, drawn?.height, drawn?.dpi],
        [picture.width, picture.height, Math.round(picture.dpi)],
      );
      assert.ok(Buffer.from(drawn?.gray ?? []).equals(Buffer.from(gray)), `${picture.width}, turned by ${rotate}`);
      const [, , across = 0] = blocks[0]?.words?.[0]?.box ?? [];
      assert.ok(Math.abs(across - (30 * 72) / picture.dpi) < 0.001, 'boxes are in points of the page');
    }
  }
});

test('a word that a scanned line breaks is joined, and a hyphen that belongs to a word stays', async () => {
  const lines = ['The con-', 'sectetuer reads a well-known well-', 'known text of 1990-', '1995 -', 'end-'];
  const { blocks } = await readPdf(scannedPdf([{ picture: striped(600, 800, 150) }]), { ocr: ocrOf(lines) });
  const [block] = blocks;
  assert.equal(block?.text, 'The consectetuer reads a well-known well-known text of 1990-1995 - end-');
  assert.equal(layOut({ blocks, facts: {}, warnings: [] }).text, block.text);
});
