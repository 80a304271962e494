import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { maxAnswerDepth, readBody } from './body.ts';

const read = (text: string, format: 'json' | 'xml' | 'text') => readBody(Buffer.from(text), undefined, format);

describe('the body of a response', () => {
  it('is parsed as XML into elements with attributes, text and children', () => {
    const xml = `<?xml version="1.0"?><!DOCTYPE r [<!ENTITY e "x">]><r a="1 &amp; 2"> one <b x="y"/><![CDATA[<two>]]><c>&lt;3&#33;</c><!-- no --></r>`;
    assert.deepEqual(read(xml, 'xml'), {
      body: {
        name: 'r',
        attributes: { a: '1 & 2' },
        text: 'one <two>',
        children: [
          { name: 'b', attributes: { x: 'y' }, text: '', children: [] },
          { name: 'c', attributes: {}, text: '<3!', children: [] },
        ],
      },
    });
  });

  it('is parsed without expanding entities, reading files or deep recursion', () => {
    const bomb = `<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]><x>&b;&f;</x>`;
    const result = read(bomb, 'xml');
    assert.ok('body' in result);
    assert.doesNotMatch(JSON.stringify(result), /aaaa|root:/);
    assert.ok('wrong' in read('<a>'.repeat(5000) + '</a>'.repeat(5000), 'xml'));
    assert.ok('wrong' in read('<a/>'.repeat(200_001), 'xml'));
  });

  it('is refused as XML when elements are not closed or missing', () => {
    assert.ok('wrong' in read('<a><b></a>', 'xml'));
    assert.ok('wrong' in read('<a>', 'xml'));
    assert.ok('wrong' in read('plain text', 'xml'));
  });

  it('is base64 when it is not text', () => {
    assert.deepEqual(readBody(Buffer.from('89504e47', 'hex'), 'image/png', 'base64'), { body: 'iVBORw==' });
    assert.deepEqual(readBody(Buffer.alloc(0), undefined, 'base64'), { body: '' });
  });

  it('is parsed as JSON; an empty body is null', () => {
    assert.deepEqual(read('\ufeff{"a":1}', 'json'), { body: { a: 1 } });
    assert.deepEqual(read('  ', 'json'), { body: null });
    assert.ok('wrong' in read('<html>', 'json'));
  });

  it('is accepted up to the limit answer_depth and refused one level above it, before it is parsed', () => {
    const nested = (levels: number, text = '"[{"') => `${'['.repeat(levels)}${text}${']'.repeat(levels)}`;
    assert.ok('body' in read(nested(maxAnswerDepth), 'json'));
    const refused = { wrong: `the answer is nested deeper than ${maxAnswerDepth} levels` };
    assert.deepEqual(read(nested(maxAnswerDepth + 1), 'json'), refused);
    assert.deepEqual(read(`{"a":${nested(maxAnswerDepth)}}`, 'json'), refused);
    // A parser would first complain about the missing end.
    assert.deepEqual(read('['.repeat(100_000), 'json'), refused);
  });

  it('is read as text in the charset of the response', () => {
    assert.deepEqual(readBody(Buffer.from([0xe4]), 'text/plain; charset=ISO-8859-1', 'text'), { body: 'ä' });
    assert.deepEqual(readBody(Buffer.from('ä'), 'text/plain; charset=nonsense', 'text'), { body: 'ä' });
  });
});
