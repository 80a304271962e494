import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { layOut } from '../document.ts';
import { readDocument } from './read-document.ts';

const pandoc = '/usr/bin/pandoc';

/** A text in Markdown of which pandoc makes documents. Its words differ from each other. */
const source = `% The handbook of foxes

# Opening hours

The library opens at nine.

- Monday to Friday
- Saturday until *noon*

# Lending

| item | weeks |
|------|-------|
| atlas | 4    |
| map  | 1     |

# Übersicht & 概要

Straße, café — 图书馆每天九点开放。 مكتبة المدينة

## Fees

Ten cents each day.
`;

/** The words of the source in order, without its marks. */
const words = source.match(/[\p{L}\p{N}]+/gu) ?? [];

const packAs = (format: string, input = source) =>
  execFileSync(pandoc, ['-f', 'markdown', ...(format === 'rtf' ? ['-s'] : []), '-t', format, '-o', '-'], { input });

for (const format of ['pptx', 'epub', 'docx', 'odt', 'rtf'] as const) {
  test(`every word of a .${format} file that pandoc has made is read in order`, async () => {
    const bytes = packAs(format);
    const document = await readDocument({ format, bytes });
    const { text } = layOut(document);
    // Slides below the level of sections have no title, so they are numbered.
    const found = (text.replace(/^Slide \d+$/gm, '').match(/[\p{L}\p{N}]+/gu) ?? []).join(' ');
    const expected = (
      document.facts.title !== undefined && !text.startsWith('The handbook') ? words.slice(4) : words
    ).join(' ');
    assert.equal(found, expected);
    assert.deepEqual(document.warnings, []);
    const { text: heading } = document.blocks.find(({ text: block }) => block.startsWith('Übersicht')) ?? { text: '' };
    assert.equal(heading, 'Übersicht & 概要');
  });
}

test('a packed document under the extension of another format is read by its content, with a warning', async () => {
  for (const format of ['pptx', 'epub', 'docx', 'odt']) {
    const bytes = packAs(format);
    const own = await readDocument({ format, bytes });
    for (const name of ['docx', 'xlsx', 'pptx', 'odt', 'ods', 'odp', 'epub'].filter((each) => each !== format)) {
      const { blocks, facts, warnings } = await readDocument({ format: name, bytes });
      assert.deepEqual(blocks, own.blocks, `${format} named .${name}`);
      assert.match(facts.parser ?? '', new RegExp(`^quartermaster-${format}/`));
      assert.deepEqual(
        warnings.map((each) => each.split(':')[0]),
        ['other_format'],
      );
    }
  }
});

test('powers and struck text of files that pandoc has made keep their marks in every format', async () => {
  for (const format of ['docx', 'odt', 'rtf', 'epub', 'pptx']) {
    const bytes = packAs(format, 'It took 10^6^ of 40 m^2^ on the 1^st^, for ~~100~~ 90.');
    const { text } = layOut(await readDocument({ format, bytes }));
    assert.match(text, /It took 10\^6 of 40 m² on the 1st, for ~~100~~ 90\./, format);
  }
});
