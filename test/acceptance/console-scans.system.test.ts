import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { settledRecord } from '../support/client.ts';
import { type OpenedConsole, openConsole } from '../support/console.ts';
import { readPng } from '../support/png.ts';
import { placedPdf, writePdf } from '../support/sample-pdf.ts';

// `/usr/bin/tesseract` reads the pages.
test('[console] scanned pages and pictures are shown with the passage boxed where OCR has read it', async (t: TestContext) => {
  const opened = await openConsole(t, { settings: { OCR: 'on' } });
  const { client } = opened.service;
  const { collection_id: collection } = await client.collections.create({ name: 'Scans' });
  const add = async (name: string, content: Buffer) => {
    const purpose = 'document_file';
    const { file_id } = await client.files.upload(new Blob([new Uint8Array(content)]), { purpose, name });
    const { record_id } = await client.records.create(collection, { type: 'file', file_id });
    assert.equal((await settledRecord(client, collection, record_id)).status, 'ready', name);
    return record_id;
  };
  const original = await add('rules.pdf', placedPdf([page]));
  const picture = await drawPage(opened, collection, original);
  for (const [name, bytes] of [
    ['scan.pdf', scanOf(picture)],
    ['scan.png', picture],
  ] as const)
    await lookAt(opened, { collection, record: await add(name, bytes), name });
  assert.deepEqual(opened.pageErrors, []);
});

/** A page of 600 × 800 points; the otters are 300 points from its top and 60 from its left edge. */
const page = [
  { text: 'The rules of the library of the town', x: 50, y: 740 },
  { text: 'Otters may borrow ten books for four weeks.', x: 60, y: 500 },
];

/** Returns the picture that the service draws of the page, in place of one from a scanner. */
async function drawPage({ service }: OpenedConsole, collection: string, record: string): Promise<Buffer> {
  const url = `${service.filesUrl}/v1/collections/${collection}/records/${record}/pages/1/picture?width=1700`;
  const answer = await fetch(url, { headers: { Authorization: `Bearer ${service.key}` } });
  assert.equal(answer.status, 200);
  return Buffer.from(await answer.arrayBuffer());
}

/** A page of 600 × 800 points that contains only a picture. */
function scanOf(png: Buffer): Buffer {
  const { width, height, data } = readPng(png);
  const gray = deflateSync(Buffer.from(Array.from({ length: width * height }, (_, at) => data[at * 4] ?? 255)));
  const stream = (head: string, content: Buffer) =>
    Buffer.concat([
      Buffer.from(`<< ${head} /Length ${content.length} >>\nstream\n`),
      content,
      Buffer.from('\nendstream'),
    ]);
  const image = `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceGray`;
  return writePdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /XObject << /I 5 0 R >> >> >>',
    stream('', Buffer.from('q 600 0 0 800 0 0 cm /I Do Q')),
    stream(`${image} /BitsPerComponent 8 /Filter /FlateDecode`, gray),
  ]);
}

async function lookAt(
  { page, service }: OpenedConsole,
  { collection, record, name }: { collection: string; record: string; name: string },
): Promise<void> {
  const url = `/v1/collections/${collection}/records/${record}/chunks`;
  const answer = await fetch(`${service.filesUrl}${url}`, { headers: { Authorization: `Bearer ${service.key}` } });
  const { data } = (await answer.json()) as { data: Array<{ chunk_id: string }> }; // the contract
  await page.goto(`${service.filesUrl}/collections/${collection}/records/${record}#${data[0]?.chunk_id}`);
  const panel = page.getByRole('region', { name: `Document: ${name}` });
  await panel.getByRole('status').filter({ hasText: 'Page 1 of 1. The passage is marked.' }).waitFor();
  const picture = panel.getByRole('img', { name: new RegExp(`^Page 1 of ${name.replace('.', '\\.')}`) });
  await picture.waitFor();
  await picture.evaluate((image) => (image as unknown as { decode(): Promise<void> }).decode());
  const whole = await picture.boundingBox();
  assert.ok(whole !== null && whole.width > 300);
  const scale = whole.width / 600;
  const [x, y] = [whole.x + 100 * scale, whole.y + 297 * scale];
  const boxes = await Promise.all((await panel.locator('[data-mark]').all()).map((box) => box.boundingBox()));
  const around = boxes.filter((box) => box !== null && box.x < x && x < box.x + box.width);
  assert.equal(boxes.length, 2, name);
  assert.ok(
    around.some((box) => box !== null && box.y < y && y < box.y + box.height && box.height < 16 * scale),
    `no box of ${JSON.stringify(boxes)} is around ${x}, ${y} of ${name}`,
  );
}
