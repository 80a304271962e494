import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layOut } from '../../document.ts';
import { readPdf } from './read-pdf.ts';

/** Builds a PDF of one page with annotations, each as the members of its dictionary. */
function withAnnotations(annotations: readonly string[], content = '', more = ''): Buffer {
  const first = 6;
  const references = annotations.map((_, index) => `${first + index} 0 R`).join(' ');
  const fields = annotations.flatMap((text, index) => (text.includes('/Widget') ? [`${first + index} 0 R`] : []));
  const objects = [
    `<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [${fields.join(' ')}] /DA (/F1 11 Tf) /DR << /Font << /F1 5 0 R >> >> ${more} >> >>`,
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Annots [${references}] /Resources << /Font << /F1 5 0 R >> >> >>`,
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    ...annotations.map((text) => `<< /Type /Annot /P 3 0 R ${text} >>`),
  ];
  let text = '%PDF-1.7\n';
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const start = text.length;
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`;
  text += offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  text += `trailer << /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(text, 'latin1');
}

const field = (type: string, name: string, y: number, more: string) =>
  `/Subtype /Widget /FT /${type} /T (${name}) /Rect [200 ${y - 4} 400 ${y + 14}] ${more}`;
const line = (y: number, text: string) => `BT /F1 11 Tf 50 ${y} Td (${text}) Tj ET`;

const form = withAnnotations(
  [
    field('Tx', 'name', 700, '/V (Ada Lovelace)'),
    field('Tx', 'empty', 680, ''),
    field('Tx', 'secret', 660, '/Ff 8192 /V (hunter2)'),
    field('Ch', 'colour', 640, '/Ff 131072 /Opt [[(r) (Red)] [(g) (Green)]] /V (g)'),
    field('Btn', 'member', 620, '/V /Yes /AS /Yes /AP << /N << /Yes 5 0 R /Off 5 0 R >> >>'),
    field('Btn', 'other', 600, '/V /Off /AS /Off /AP << /N << /Yes 5 0 R /Off 5 0 R >> >>'),
  ],
  ['Name', 'Empty', 'Password', 'Colour', 'Member', 'Other'].map((text, at) => line(700 - 20 * at, text)).join('\n'),
);

test('the values of form fields stand behind their labels, and passwords and empty fields are left out', async () => {
  const { facts, ...document } = await readPdf(form);
  const { text } = layOut({ facts, ...document });
  const flat = text.replace(/[|\s]+/g, ' ');
  assert.match(flat, /Name Ada Lovelace .*Colour Green Member \[x\] Other \[ \]/);
  assert.doesNotMatch(text, /hunter2/);
  assert.equal(facts.form_fields, 3);
});

test('a check box precedes a label that is nearer than the one before it', async () => {
  const box = (name: string, x: number, y: number, value: string) =>
    `/Subtype /Widget /FT /Btn /T (${name}) /Rect [${x} ${y} ${x + 12} ${y + 12}] /V /${value} /AS /${value} /AP << /N << /Yes 5 0 R /Off 5 0 R >> >>`;
  const at = (x: number, y: number, text: string) => `BT /F1 11 Tf ${x} ${y} Td (${text}) Tj ET`;
  const bytes = withAnnotations(
    [box('a', 72, 300, 'Yes'), box('b', 72, 270, 'Off'), box('c', 200, 240, 'Yes'), box('d', 260, 240, 'Off')],
    [
      at(100, 300, 'I agree'),
      at(100, 270, 'Unchecked'),
      at(72, 240, 'Member'),
      at(216, 240, 'yes'),
      at(276, 240, 'no'),
    ].join('\n'),
  );
  const { facts, ...document } = await readPdf(bytes);
  assert.equal(
    layOut({ facts, ...document }).text.replace(/[|\s]+/g, ' '),
    '[x] I agree [ ] Unchecked Member [x] yes [ ] no',
  );
  assert.equal(facts.form_fields, 2);
});

test('a document whose text stands in form fields alone has text', async () => {
  const document = await readPdf(withAnnotations([field('Tx', 'value', 700, '/V (foobar)')]));
  assert.equal(layOut(document).text, 'foobar');
  assert.equal(document.facts.pages_without_text, 0);
});

test('notes are read, and hidden ones and pop-up windows are not', async () => {
  const rect = '/Rect [200 500 300 520]';
  const { facts, ...document } = await readPdf(
    withAnnotations(
      [
        `/Subtype /Text ${rect} /Contents (Check this figure)`,
        `/Subtype /FreeText ${rect} /Contents (Approved in May)`,
        `/Subtype /Popup ${rect} /Contents (Check this figure)`,
        `/Subtype /Text ${rect} /F 2 /Contents (unseen)`,
      ],
      line(700, 'The text.'),
    ),
  );
  const { text } = layOut({ facts, ...document });
  assert.match(text, /The text\..*\[Note: Check this figure\]/s);
  assert.match(text, /Approved in May/);
  assert.equal(text.split('figure').length, 2);
  assert.doesNotMatch(text, /unseen/);
  assert.deepEqual([facts.notes, facts.dropped?.hidden], [2, 'unseen'.length]);
});

test('an XFA form is reported', async () => {
  const { warnings } = await readPdf(withAnnotations([], line(700, 'Please wait'), '/XFA [(datasets) 4 0 R]'));
  assert.match(warnings.join(), /^xfa_form: /);
});

test('a field gives the value that the page shows, and its own value when nothing or only a part is shown', async () => {
  const shown = (text: string) =>
    `<< /Type /XObject /Subtype /Form /BBox [0 0 200 18] /Resources << /Font << /F1 5 0 R >> >> /Length ${text.length + 43} >>
stream\n/Tx BMC q BT /F1 11 Tf 2 4 Td (${text}) Tj ET Q EMC\nendstream`;
  const drawn = (count: number) => `/AP << /N ${6 + count} 0 R >>`;
  const cases = [
    ['232324', '232,324.00', '232,324.00'],
    ['D:20240131', '31 January 2024', '31 January 2024'],
    ['A long value that does not fit', 'A long value that', 'A long value that does not fit'],
    ['12345', '1 2 3 4 5', '12345'],
    ['never drawn', '', 'never drawn'],
  ] as const;
  const widgets = cases.map(([value, drawing], at) =>
    field('Tx', `field${at}`, 700 - 20 * at, `/V (${value}) ${drawing === '' ? '' : drawn(cases.length + at)}`),
  );
  const content = cases.map((_, at) => line(700 - 20 * at, `Label ${at}`)).join('\n');
  const bytes = withAnnotations(widgets, content).toString('latin1');
  const drawings = cases.map(([, drawing], at) => `${6 + cases.length + at} 0 obj\n${shown(drawing)}\nendobj\n`);
  const file = (more: string) => Buffer.from(bytes.replace('xref', `${drawings.join('')}${more}xref`), 'latin1');
  const { text } = layOut(await readPdf(file('')));
  for (const [at, [, , expected]] of cases.entries()) assert.ok(text.includes(`Label ${at} | ${expected}`), text);
  const asked = layOut(await readPdf(file('20 0 obj\n<< /NeedAppearances true >>\nendobj\n')));
  assert.ok(asked.text.includes('Label 0 | 232324'), asked.text);
});
