import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zipSync } from 'fflate';
import { encryptedOfficeFile, wordDocument } from '../../../../../../../test/support/sample-office.ts';
import { readPptx } from './read-pptx.ts';

const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const drawing = 'http://schemas.openxmlformats.org/drawingml/2006';
const prefixes = `xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="${drawing}/main"
  xmlns:c="${drawing}/chart" xmlns:dgm="${drawing}/diagram" xmlns:r="${office}"
  xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"`;

const line = (text: string, properties = '') => `<a:p>${properties}<a:r><a:t>${text}</a:t></a:r></a:p>`;
const box = (body: string, place = '', descr = '') =>
  `<p:sp><p:nvSpPr><p:cNvPr id="1" name="x" descr="${descr}"/><p:nvPr>${place === '' ? '' : `<p:ph type="${place}"/>`}</p:nvPr></p:nvSpPr><p:txBody>${body}</p:txBody></p:sp>`;
const slide = (shapes: string, attributes = '') =>
  `<p:sld ${prefixes} ${attributes}><p:cSld><p:spTree>${shapes}</p:spTree></p:cSld></p:sld>`;
const relationships = (targets: Readonly<Record<string, string>>) =>
  `<Relationships>${Object.entries(targets)
    .map(([id, target]) => `<Relationship Id="${id}" Type="${office}/${id.replace(/\d+$/, '')}" Target="${target}"/>`)
    .join('')}</Relationships>`;

/** Builds a presentation whose parts are in `ppt`. The order of the slides is the order of their ids. */
function pptxOf(parts: Readonly<Record<string, string>>, slides: readonly string[]): Uint8Array {
  const ids = slides.map((_, at) => `<p:sldId id="${256 + at}" r:id="slide${at}"/>`);
  const all = {
    '[Content_Types].xml': '<Types/>',
    '_rels/.rels': relationships({ officeDocument: 'ppt/presentation.xml' }),
    'ppt/presentation.xml': `<p:presentation ${prefixes}><p:sldIdLst>${ids.join('')}</p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relationships(
      Object.fromEntries(slides.map((target, at) => [`slide${at}`, target])),
    ),
    ...Object.fromEntries(Object.entries(parts).map(([name, text]) => [`ppt/${name}`, text])),
  };
  return zipSync(Object.fromEntries(Object.entries(all).map(([name, text]) => [name, Buffer.from(text)])));
}

test('slides are read in the order of the show, with their titles first and their notes last', async () => {
  const { blocks, facts, warnings } = await readPptx(
    pptxOf(
      {
        'slides/a.xml': slide(box(line('shown second')), 'show="0"'),
        'slides/b.xml': slide(
          box(
            line('Monday') + line('Tuesday', '<a:pPr lvl="1"/>') + line('No bullet', '<a:pPr><a:buNone/></a:pPr>'),
            'body',
          ) +
            box('<a:p><a:r><a:t>Two </a:t></a:r><a:br/><a:r><a:t>lines</a:t></a:r></a:p>', 'title') +
            `<p:grpSp>${box(line('in a group'))}</p:grpSp>` +
            `<mc:AlternateContent><mc:Choice>${box(line('new'))}</mc:Choice><mc:Fallback>${box(line('old'))}</mc:Fallback></mc:AlternateContent>` +
            `<p:pic><p:nvPicPr><p:cNvPr descr="A fox reads the newspaper"/></p:nvPicPr></p:pic>` +
            box(line('7 May'), 'dt') +
            box('<a:p><a:fld type="slidenum"><a:t>1</a:t></a:fld></a:p>', 'sldNum'),
        ),
        'slides/_rels/b.xml.rels': relationships({ notesSlide: '../notes/n.xml', comments: '../comments/c.xml' }),
        'notes/n.xml': `<p:notes ${prefixes}><p:cSld><p:spTree>${box(line('Say hello.'), 'body')}${box(line('1'), 'sldNum')}</p:spTree></p:cSld></p:notes>`,
        'comments/c.xml': `<p:cmLst ${prefixes}><p:cm><p:text>Is this right?</p:text></p:cm></p:cmLst>`,
      },
      ['slides/b.xml', 'slides/a.xml', 'slides/gone.xml'],
    ),
  );
  assert.deepEqual(
    blocks.map(({ kind, level, page, text }) => [kind, level, page, text]),
    [
      ['heading', 1, 1, 'Two lines'],
      ['list_item', undefined, 1, '- Monday'],
      ['list_item', undefined, 1, '- Tuesday'],
      ['paragraph', undefined, 1, 'No bullet'],
      ['paragraph', undefined, 1, 'in a group'],
      ['paragraph', undefined, 1, 'new'],
      ['paragraph', undefined, 1, '[A fox reads the newspaper]'],
      ['paragraph', undefined, 1, 'Comment: Is this right?'],
      ['heading', 2, 1, 'Notes'],
      ['paragraph', undefined, 1, 'Say hello.'],
      ['heading', 1, 2, 'Slide 2'],
      ['paragraph', undefined, 2, 'shown second'],
    ],
  );
  assert.deepEqual(facts, { pages: 3, dropped: { footers: 5 } });
  assert.deepEqual(warnings, [
    'hidden_slides: These slides are hidden in the show: 2.',
    'missing_slides: These slides are not in the file: 3.',
  ]);
});

test('tables, charts and diagrams of a slide are read', async () => {
  const cell = (text: string, attributes = '') => `<a:tc ${attributes}><a:txBody>${line(text)}</a:txBody></a:tc>`;
  const frame = (content: string) =>
    `<p:graphicFrame><a:graphic><a:graphicData>${content}</a:graphicData></a:graphic></p:graphicFrame>`;
  const point = (text: string) => `<c:pt idx="0"><c:v>${text}</c:v></c:pt>`;
  const { blocks } = await readPptx(
    pptxOf(
      {
        's.xml': slide(
          frame(
            `<a:tbl><a:tr>${cell('item', 'gridSpan="2"')}${cell('covered', 'hMerge="1"')}</a:tr><a:tr>${cell('map')}${cell('1')}</a:tr></a:tbl>`,
          ) +
            frame('<c:chart r:id="chart1"/>') +
            frame('<dgm:relIds r:dm="diagramData1"/>'),
        ),
        '_rels/s.xml.rels': relationships({ chart1: 'chart.xml', diagramData1: 'data.xml' }),
        'chart.xml': `<c:chartSpace ${prefixes}><c:chart><c:title>${line('Loans')}</c:title><c:ser><c:tx>${point('2026')}</c:tx><c:cat>${point('May')}</c:cat><c:val>${point('12')}</c:val></c:ser></c:chart></c:chartSpace>`,
        'data.xml': `<dgm:dataModel ${prefixes}><dgm:pt><dgm:t>${line('Borrow')}</dgm:t></dgm:pt><dgm:pt><dgm:t>${line('Return')}</dgm:t></dgm:pt></dgm:dataModel>`,
      },
      ['s.xml'],
    ),
  );
  assert.deepEqual(
    blocks.map(({ text }) => text),
    ['Slide 1', 'item | \nmap | 1', 'Loans', ' | 2026\nMay | 12', '- Borrow', '- Return'],
  );
});

test('a slide that is listed a hundred thousand times is read once', async () => {
  const many = Array.from({ length: 100_000 }, () => 's.xml');
  assert.equal((await readPptx(pptxOf({ 's.xml': slide(box(line('x'.repeat(1000)))) }, many))).blocks.length, 2);
});

test('documents of other kinds, with a password or damaged are refused', async () => {
  const doctype = `<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]>${slide(box(line('&e;')))}`;
  const whole = Buffer.from(pptxOf({ 's.xml': slide('') }, ['s.xml']));
  for (const [bytes, code] of [
    [wordDocument(['text']), 'file_type_mismatch'],
    [encryptedOfficeFile(), 'file_encrypted'],
    [pptxOf({ 's.xml': doctype }, ['s.xml']), 'file_damaged'],
    [whole.subarray(0, whole.length / 2), 'file_damaged'],
    [zipSync({ '[Content_Types].xml': Buffer.from('<Types/>') }), 'file_damaged'],
    [Buffer.from('PK'), 'file_damaged'],
    [Buffer.alloc(0), 'file_empty'],
  ] as const)
    await assert.rejects(readPptx(bytes), { code });
});

test('groups that are nested too deeply are refused', async () => {
  const nested = `${'<p:grpSp>'.repeat(100_000)}${'</p:grpSp>'.repeat(100_000)}`;
  await assert.rejects(readPptx(pptxOf({ 's.xml': slide(nested) }, ['s.xml'])), { code: 'file_damaged' });
});

test('raised numbers are powers, and struck text is marked', async () => {
  const run = (text: string, properties = '') => `<a:r><a:rPr ${properties}/><a:t>${text}</a:t></a:r>`;
  const up = 'baseline="30000"';
  const paragraphs = [
    `${run('Dose 10')}${run('-', up)}${run('6', up)}${run(' g on 5 m')}${run('2', up)}${run(', CO')}${run('2', 'baseline="-25000"')}`,
    `${run('Price ')}${run('1', 'strike="sngStrike"')}${run('00', 'strike="sngStrike"')}${run(' 80', 'strike="noStrike"')}`,
  ];
  const body = paragraphs.map((each) => `<a:p>${each}</a:p>`).join('');
  const { blocks } = await readPptx(pptxOf({ 'slides/1.xml': slide(box(body)) }, ['slides/1.xml']));
  assert.equal(
    blocks
      .map(({ text }) => text)
      .join(' ')
      .replace(/\s+/g, ' '),
    'Slide 1 Dose 10^-6 g on 5 m², CO2 Price ~~100~~ 80',
  );
});
